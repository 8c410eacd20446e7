/**
 * Once a virtual file system is mounted (chunk-loader.ts mounts one for addons), Node 26.10 hands `fs.readv` and `fs.writev` to handlers
 * that lack them, and they throw. A write stream of node:fs calls `writev` as soon as two chunks wait. All other functions of node:fs and
 * node:fs/promises work there.
 */

/** Runs at the start of each binary, as text: it can use nothing from outside. */
export function provideVectoredIo(): void {
  type Done = (error: NodeJS.ErrnoException | null, bytes: number, buffers: readonly NodeJS.ArrayBufferView[]) => void;
  type Vectored = (
    fd: number,
    buffers: readonly NodeJS.ArrayBufferView[],
    position: number | null | Done,
    done?: Done,
  ) => void;
  const fs = globalThis.process.getBuiltinModule("node:fs") as unknown as Record<"readv" | "writev", Vectored> &
    Pick<typeof import("node:fs"), "read" | "write">;
  const { Buffer } = globalThis.process.getBuiltinModule("node:buffer");
  const bytesOf = ({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView) =>
    Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

  const replace = (name: "readv" | "writev", act: (...args: [number, Buffer[], number | null, Done]) => void): void => {
    const before = fs[name];
    const after: Vectored = (fd, buffers, position, done) => {
      const finished = done ?? position;
      // It checks what it is given before it comes to the handlers.
      if (!Array.isArray(buffers) || buffers.length === 0 || typeof finished !== "function") {
        return before(fd, buffers, position, done);
      }
      const at = typeof position === "number" ? position : null;
      act(fd, buffers.map(bytesOf), at, (error, bytes) => finished(error, bytes, buffers));
    };
    // What util.promisify looks for is among its properties.
    fs[name] = Object.defineProperties(after, Object.getOwnPropertyDescriptors(before));
  };

  replace("writev", (fd, parts, position, done) => {
    const whole = Buffer.concat(parts);
    fs.write(fd, whole, 0, whole.length, position, (error, written) => done(error, written, parts));
  });
  replace("readv", (fd, parts, position, done) => {
    const whole = Buffer.concat(parts);
    fs.read(fd, whole, 0, whole.length, position, (error, bytes) => {
      let at = 0;
      for (const part of parts) at += whole.copy(part, 0, at, bytes);
      done(error, bytes, parts);
    });
  });
}
