import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import type { Host } from "../host/host.ts";
import { isAbsolute } from "./links.ts";

/** The machine with other texts in place of some files. */
export function overlay(host: Host, textAt: (path: string) => string | undefined): Host {
  const textOf = (path: string | URL) =>
    isAbsolute(path) ? textAt(path instanceof URL ? fromFileUrl(path) : join(path)) : undefined;
  return {
    ...host,
    files: {
      ...host.files,
      read: (path) => {
        const text = textOf(path);
        return text === undefined
          ? host.files.read(path)
          : Promise.resolve(new TextEncoder().encode(text));
      },
      isFile: (path) =>
        textOf(path) === undefined ? host.files.isFile(path) : Promise.resolve(true),
    },
  };
}
