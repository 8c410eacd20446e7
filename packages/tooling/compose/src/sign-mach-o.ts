/**
 * Signs a program for macOS ad hoc, as `codesign --sign -` does: hashes of its pages, and no certificate. Adding to a Mach-O file drops its
 * signature, and the kernel of Apple silicon ends a program without one. The layout is that of `cs_blobs.h` of XNU; all of it is
 * big-endian, and the file around it little-endian. Never tried on a Mac: its hashes are compared with those of Apple's own tool.
 */
import { createHash } from "node:crypto";

const IDENTIFIER = "svc";
const PAGE_BYTES = 4096;

/** Throws for what is no 64-bit program of macOS, has a signature, or has no room for one. */
export function signedMachO(program: Buffer): Buffer {
  const { commands, end, firstSection, text, linkedit } = layoutOf(program);
  if (firstSection - end < COMMAND_BYTES) throw new Error("there is no room for the command of a signature");
  const codeBytes = aligned(program.length, 16);
  const signatureBytes = aligned(HEADER_BYTES + Math.ceil(codeBytes / PAGE_BYTES) * HASH_BYTES, 16);
  const signed = Buffer.alloc(codeBytes + signatureBytes);
  program.copy(signed);

  signed.writeUInt32LE(commands + 1, 16);
  signed.writeUInt32LE(end - FIRST_COMMAND + COMMAND_BYTES, 20);
  for (const [index, value] of [LC_CODE_SIGNATURE, COMMAND_BYTES, codeBytes, signatureBytes].entries()) {
    signed.writeUInt32LE(value, end + index * 4);
  }
  const linkeditBytes = signed.length - linkedit.fileOffset;
  signed.writeBigUInt64LE(BigInt(aligned(linkeditBytes, 0x4000)), linkedit.at + 32);
  signed.writeBigUInt64LE(BigInt(linkeditBytes), linkedit.at + 48);
  // Last: the hashes are of the file with this command in it.
  signatureOf(signed.subarray(0, codeBytes), text.fileBytes).copy(signed, codeBytes);
  return signed;
}

/** SHA-256 of each page; the last one may be shorter. */
export function pageHashes(code: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(code.length / PAGE_BYTES) }, (_, page) =>
    createHash("sha256")
      .update(code.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES))
      .digest(),
  );
}

const FIRST_COMMAND = 32;
const COMMAND_BYTES = 16;
const HASH_BYTES = 32;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;

interface Segment {
  /** Where its command is. */
  readonly at: number;
  readonly fileOffset: number;
  readonly fileBytes: number;
}

function layoutOf(program: Buffer) {
  if (program.readUInt32LE(0) !== 0xfeedfacf) throw new Error("it is no 64-bit program of macOS");
  const commands = program.readUInt32LE(16);
  const segments = new Map<string, Segment>();
  let firstSection = program.length;
  let end = FIRST_COMMAND;
  for (let command = 0; command < commands; command += 1) {
    const kind = program.readUInt32LE(end);
    if (kind === LC_CODE_SIGNATURE) throw new Error("it has a signature");
    if (kind === LC_SEGMENT_64) {
      const name = program.toString("latin1", end + 8, end + 24).replace(/\0+$/, "");
      const fileOffset = Number(program.readBigUInt64LE(end + 40));
      segments.set(name, { at: end, fileOffset, fileBytes: Number(program.readBigUInt64LE(end + 48)) });
      for (let section = 0; section < program.readUInt32LE(end + 64); section += 1) {
        const offset = program.readUInt32LE(end + 72 + section * 80 + 48);
        if (offset > 0) firstSection = Math.min(firstSection, offset);
      }
    }
    end += program.readUInt32LE(end + 4);
  }
  const text = segments.get("__TEXT");
  const linkedit = segments.get("__LINKEDIT");
  if (!text || !linkedit || linkedit.fileOffset + linkedit.fileBytes !== program.length) {
    throw new Error("its last segment is not where a signature has to be");
  }
  return { commands, end, firstSection, text, linkedit };
}

const SUPER_BLOB_BYTES = 20;
const DIRECTORY_BYTES = 88;
const HEADER_BYTES = SUPER_BLOB_BYTES + DIRECTORY_BYTES + IDENTIFIER.length + 1;

function signatureOf(code: Buffer, textBytes: number): Buffer {
  const hashes = pageHashes(code);
  const signature = Buffer.alloc(HEADER_BYTES + hashes.length * HASH_BYTES);
  const words = (at: number, ...values: number[]): void => {
    for (const [index, value] of values.entries()) signature.writeUInt32BE(value, at + index * 4);
  };
  // A blob of one blob (number 0, the code directory).
  words(0, 0xfade0cc0, signature.length, 1, 0, SUPER_BLOB_BYTES);
  const at = SUPER_BLOB_BYTES;
  const hashOffset = DIRECTORY_BYTES + IDENTIFIER.length + 1;
  // Magic, length, version 2.4, ad hoc, where hashes and identifier are, no special slots, slots, bytes of code.
  words(
    at,
    0xfade0c02,
    signature.length - at,
    0x20400,
    0x2,
    hashOffset,
    DIRECTORY_BYTES,
    0,
    hashes.length,
    code.length,
  );
  // Hashes of 32 bytes, by SHA-256 (2), of no platform's own, of pages of 2^12 bytes.
  signature.set([HASH_BYTES, 2, 0, 12], at + 36);
  // The executable segment, and that it is the main program's.
  signature.writeBigUInt64BE(BigInt(textBytes), at + 72);
  signature.writeBigUInt64BE(1n, at + 80);
  signature.write(IDENTIFIER, at + DIRECTORY_BYTES, "latin1");
  Buffer.concat(hashes).copy(signature, at + hashOffset);
  return signature;
}

const aligned = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
