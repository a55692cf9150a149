import type { SnapshotMode } from "../../run/run_options.ts";
import { UsageError } from "../../base/errors.ts";
import type { Invocation } from "../command.ts";

/** The snapshot mode that the options of a run select, if any. Throws UsageError. */
export function snapshotMode({ values }: Invocation): SnapshotMode | undefined {
  const mode = values.get("snapshot");
  const update = values.get("update-snapshots");
  if (update === undefined) return mode === "check" || mode === "write" ? mode : undefined;
  if (mode !== undefined) {
    throw new UsageError("options --snapshot and --update-snapshots cannot be combined");
  }
  if (update === "") return "update";
  if (update === "all") return "prune";
  throw new UsageError(
    `invalid value "${update}" for option --update-snapshots`,
    "write --update-snapshots, or --update-snapshots=all to remove those that no step names",
  );
}
