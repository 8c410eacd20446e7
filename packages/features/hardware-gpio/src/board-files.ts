/** Files on a board with MicroPython, read and written by code that it runs. */
import { SvcError } from "@svc/contract";
import type { CodeRunner } from "./dialect/dialect.ts";
import { checksum, literal } from "./dialect/micropython.ts";

const MOST_READ_BYTES = 65_536;
/** Of the file, in one piece of code: small boards have little memory for it. */
const PIECE_BYTES = 512;
const SMALL_PIECE_BYTES = 128;
const STEP_MS = 10_000;

export interface BoardFile {
  readonly file: string;
  /** The board, for messages. */
  readonly what: string;
  readonly signal: AbortSignal;
}

export async function readFileFrom(
  runner: CodeRunner,
  { file, what, signal }: BoardFile,
): Promise<{ readonly content: Buffer; readonly isCut: boolean }> {
  const code = `f = open('${file}', 'rb')
n = 0
while n < ${MOST_READ_BYTES}:
    b = f.read(64)
    if not b:
        break
    n += len(b)
    print(''.join(['%02x' % c for c in b]))
print('cut' if f.read(1) else 'end')
f.close()`;
  const options = { timeoutMs: 6 * STEP_MS, maxBytes: 4 * MOST_READ_BYTES, signal };
  const { output, error } = await runner.run(code, options);
  if (/OSError/.test(error)) {
    throw new SvcError("TOOL_FAILED", `There is no file ${file} on ${what}.`);
  }
  demandDone(error, what);
  const lines = output.toString("latin1").trim().split(/\s+/);
  const last = lines.pop();
  if ((last !== "end" && last !== "cut") || lines.some((line) => !/^(?:[0-9a-f]{2})+$/.test(line))) {
    throw new SvcError("BOARD_FAILED", `${what} did not send the file whole.`);
  }
  return { content: Buffer.from(lines.join(""), "hex"), isCut: last === "cut" };
}

/**
 * `isReplaced`: it took the name of the old file when it was whole. Firmware without \`os.rename\`, such as that of the micro:bit, writes in
 * place.
 */
export async function writeFileTo(
  runner: CodeRunner,
  { file, what, signal, content }: BoardFile & { readonly content: Buffer },
): Promise<{ readonly bytes: number; readonly isReplaced: boolean }> {
  const step = async (code: string): Promise<string> => {
    const { output, error } = await runner.run(code, { timeoutMs: STEP_MS, maxBytes: 1024, signal });
    demandDone(error, what);
    return output.toString("latin1").trim();
  };
  const canRename = (await step("import os\nprint(hasattr(os, 'rename'))")) === "True";
  const target = canRename ? `${file}.svc-part` : file;
  const pieceBytes = canRename ? PIECE_BYTES : SMALL_PIECE_BYTES;
  await step(`_svc_file = open('${target}', 'wb')`);
  for (let at = 0; at < content.length; at += pieceBytes) {
    await step(`_svc_file.write(${literal(content.subarray(at, at + pieceBytes))})`);
  }
  await step("_svc_file.close()");
  // Read back, as a line without flow control may lose bytes, and a full storage takes fewer.
  const kept = await step(CHECKSUM.replace("FILE", target));
  if (kept !== `${content.length} ${checksum(content)}`) {
    throw new SvcError("BOARD_FAILED", `${what} did not keep ${file} as it was sent; its storage may be full.`, {
      hint: canRename ? "The file of this name is as it was." : "The file on the board is damaged; write it again.",
    });
  }
  if (canRename) {
    // FAT does not rename over a file that is there; littlefs does.
    await step(
      `try:\n    os.rename('${target}', '${file}')\nexcept OSError:\n    os.remove('${file}')\n    os.rename('${target}', '${file}')`,
    );
  }
  return { bytes: content.length, isReplaced: canRename };
}

/** As `checksum` counts. */
const CHECKSUM = `f = open('FILE', 'rb')
n = 0
s = 0
while True:
    b = f.read(64)
    if not b:
        break
    n += len(b)
    for c in b:
        s = (s * 31 + c) & 0xffffff
f.close()
print(n, s)`;

function demandDone(error: string, what: string): void {
  if (error === "") return;
  const reason =
    error
      .trim()
      .split("\n")
      .at(-1)
      ?.replaceAll(/\p{Cc}/gu, " ")
      .slice(0, 200) ?? "";
  throw new SvcError("BOARD_FAILED", `${what} could not do this: ${reason}`);
}
