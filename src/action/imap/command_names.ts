/** The commands, in the words of the protocol. */
export const COMMAND_NAMES = [
  ...["select", "examine", "search", "uid search", "list", "fetch", "uid fetch"],
  ...["store", "uid store", "copy", "uid copy", "move", "uid move", "append"],
  ...["create", "delete", "rename", "subscribe", "unsubscribe", "noop"],
] as const;

/** Whether there is a command of that name; case and spaces do not matter. */
export function isCommand(name: string): boolean {
  return COMMAND_NAMES.some((one) => one === name.toLowerCase().replace(/\s+/g, " "));
}
