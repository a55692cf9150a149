import type { Clock } from "../../host/host.ts";

/** Folds parts of the log of GitLab CI behind their titles. */
export function makeGitlabFold(
  { now }: Pick<Clock, "now">,
): (title: string, text: string) => string {
  let count = 0;
  return (title, text) => {
    const time = Math.floor(now() / 1000);
    const name = `runner_${++count}`;
    // Each mark ends with what erases it where nothing folds.
    return `\x1b[0Ksection_start:${time}:${name}[collapsed=true]\r\x1b[0K${title}\n${text}` +
      `\x1b[0Ksection_end:${time}:${name}\r\x1b[0K\n`;
  };
}
