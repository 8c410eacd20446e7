/** Where the control socket is. A Unix socket's path may have about 104 bytes; a deep home is reached through its folder's handle. */
import { closeSync, openSync } from "node:fs";
import { basename, dirname } from "node:path";
import { SvcError } from "@svc/contract";

/** `sun_path` is 104 bytes on macOS and 108 on Linux, with the closing NUL. */
const MAX_SOCKET_PATH_BYTES = 103;

export interface ControlAddress extends Disposable {
  /** What to hand to `listen` or `connect`; valid until disposed. */
  readonly path: string;
}

/** Throws USAGE when the home's path is too long for this platform. */
export function controlAddress(socketFile: string, platform: NodeJS.Platform = process.platform): ControlAddress {
  if (platform === "win32") {
    // Loaded here: it would cost every command on every other system 8 ms.
    const { createHash } = process.getBuiltinModule("node:crypto");
    const name = createHash("sha256").update(socketFile.toLowerCase()).digest("hex").slice(0, 32);
    return { path: String.raw`\\.\pipe\svc-${name}`, [Symbol.dispose]: () => {} };
  }
  if (Buffer.byteLength(socketFile) <= MAX_SOCKET_PATH_BYTES) return { path: socketFile, [Symbol.dispose]: () => {} };
  if (platform !== "linux") {
    throw new SvcError("USAGE", "The path of the home folder is too long for a control socket.", {
      hint: "Set SVC_HOME to a shorter path.",
    });
  }
  const folder = openSync(dirname(socketFile), "r");
  return { path: `/proc/self/fd/${folder}/${basename(socketFile)}`, [Symbol.dispose]: () => closeSync(folder) };
}
