/** `[security.sandbox]`: what confines the commands that agents run. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import { count, flag, list } from "./schema-pieces.ts";

/** Without a default here: one that is written down has to be held, or the backend is not used. */
const limit = (min: number, max: number, description: string) =>
  v.optional(v.pipe(integer(min, max), v.description(description)));

export const sandbox = v.strictObject({
  enabled: flag(true, "Confine commands."),
  backend: v.optional(
    v.pipe(
      v.picklist(["auto", "none", "jail", "userns", "fsrestrict", "seatbelt", "container"]),
      v.description("Sandbox backend. auto: the strongest available. none: no confinement."),
    ),
    "auto",
  ),
  required: flag(false, "Refuse to run commands if the configured backend is not available."),
  network: flag(false, "Commands may reach the network."),
  timeout_secs: count(120, 1, 86_400, "Seconds a command may run."),
  memory_mb: limit(16, 1_048_576, "Megabytes of memory for a command and its child processes. Default: 2048."),
  cpu_secs: limit(1, 86_400, "Seconds of processor time of a command. Default: no limit but timeout_secs."),
  pids: limit(2, 1_000_000, "Processes and threads of a command. Default: 256."),
  readable: list("Absolute paths that commands may read, besides the workspace and system libraries."),
  writable: list("Absolute paths that commands may write, besides the workspace."),
  container_image: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/, "must be the name of an image"),
      v.description(
        "Image of the container backend. It must exist on this machine; svc never pulls images. Default: debian:stable-slim.",
      ),
    ),
  ),
});
