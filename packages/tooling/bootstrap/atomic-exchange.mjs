// The one function that Node 26 takes from libatomic.so.1, in machine code, and a shared library that holds nothing else.
// atomic-exchange.S is its source. The composer puts the same code into the binaries that it makes.

/** What a program asks the loader for. */
export const soname = "libatomic.so.1";
export const symbol = "__atomic_compare_exchange";
const version = "LIBATOMIC_1.0";

/**
 * Position-independent code by ELF machine number (`e_machine`).
 * @type {ReadonlyMap<number, Buffer>}
 */
export const exchangeCode = new Map([
  [62, Buffer.from("4883ff087517488b02488b09f0480fb10e0f94c174034889020fb6c1c30f0b", "hex")],
  [
    183,
    Buffer.from(
      "1f2000f1c1010054440040f9630040f925fc5fc8bf0004eba100005423fc06c8" +
        "86ffff3520008052c0035fd65f3f03d5450000f9e0031f2ac0035fd6000020d4",
      "hex",
    ),
  ],
]);

/** @type {Readonly<Record<string, number>>} */
const machines = { x64: 62, arm64: 183 };

/** Where the writable part is loaded: beyond the largest page there is, 64 KB. */
const dynamicAt = 0x1_1000;
const dynamicOffset = 0x1000;

/**
 * The bytes of a `libatomic.so.1` (ELF, System V gABI and the GNU symbol versions of the LSB) for an architecture as in
 * `process.arch`; undefined where there is no code for it.
 * @param {string} arch
 * @returns {Buffer | undefined}
 */
export function atomicLibrary(arch) {
  const machine = machines[arch];
  const code = machine === undefined ? undefined : exchangeCode.get(machine);
  if (machine === undefined || code === undefined) return undefined;
  const file = Buffer.alloc(dynamicOffset + 256);
  const strings = Buffer.from(`\0${soname}\0${symbol}\0${version}\0`);
  /** @param {string} text */
  const nameOf = (text) => strings.indexOf(`\0${text}\0`) + 1;

  const at = { symbols: 0x200, versions: 0x240, definitions: 0x260, hash: 0x2a0, strings: 0x300, code: 0x400 };
  // Of the entries the first one is nobody.
  writeSymbol(file, at.symbols + 24, nameOf(symbol), at.code, code.length);
  file.writeUInt16LE(2, at.versions + 2);
  writeDefinition(file, at.definitions, { flags: 1, index: 1, name: soname, nameAt: nameOf(soname), next: 28 });
  writeDefinition(file, at.definitions + 28, { flags: 0, index: 2, name: version, nameAt: nameOf(version), next: 0 });
  // One bucket, two symbols: whatever is looked for is compared with the one there is.
  words(file, at.hash, [1, 2, 1, 0, 0]);
  strings.copy(file, at.strings);
  code.copy(file, at.code);

  const entries = [
    [14, nameOf(soname)], // DT_SONAME
    [4, at.hash], // DT_HASH
    [5, at.strings], // DT_STRTAB
    [6, at.symbols], // DT_SYMTAB
    [10, strings.length], // DT_STRSZ
    [11, 24], // DT_SYMENT
    [0x6fff_fff0, at.versions], // DT_VERSYM
    [0x6fff_fffc, at.definitions], // DT_VERDEF
    [0x6fff_fffd, 2], // DT_VERDEFNUM
    [0, 0],
  ];
  for (const [index, [tag = 0, value = 0]] of entries.entries()) {
    file.writeBigUInt64LE(BigInt(tag), dynamicOffset + index * 16);
    file.writeBigUInt64LE(BigInt(value), dynamicOffset + index * 16 + 8);
  }

  const size = entries.length * 16;
  writeHeader(file, machine, 4);
  const codeEnd = at.code + code.length;
  writeSegment(file, 0, { type: 1, flags: 5, offset: 0, address: 0, size: codeEnd, align: 0x1_0000 });
  const dynamic = { flags: 6, offset: dynamicOffset, address: dynamicAt, size };
  writeSegment(file, 1, { ...dynamic, type: 1, align: 0x1_0000 });
  writeSegment(file, 2, { ...dynamic, type: 2, align: 8 });
  // PT_GNU_STACK: without it the loader makes the whole process's stack executable.
  writeSegment(file, 3, { type: 0x6474_e551, flags: 6, offset: 0, address: 0, size: 0, align: 16 });
  return file.subarray(0, dynamicOffset + size);
}

/**
 * @param {Buffer} file
 * @param {number} machine
 * @param {number} segments
 */
function writeHeader(file, machine, segments) {
  // 64 bit, little endian, version 1, System V.
  Buffer.from("7f454c46020101", "hex").copy(file);
  file.writeUInt16LE(3, 16); // ET_DYN
  file.writeUInt16LE(machine, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(64n, 32); // where the segments are described
  file.writeUInt16LE(64, 52); // size of this header
  file.writeUInt16LE(56, 54); // and of a segment's
  file.writeUInt16LE(segments, 56);
  file.writeUInt16LE(64, 58); // of a section's; there is none
}

/**
 * @param {Buffer} file
 * @param {number} index
 * @param {{ type: number, flags: number, offset: number, address: number, size: number, align: number }} segment
 */
function writeSegment(file, index, { type, flags, offset, address, size, align }) {
  const at = 64 + index * 56;
  file.writeUInt32LE(type, at);
  file.writeUInt32LE(flags, at + 4);
  for (const [place, value] of [offset, address, address, size, size, align].entries()) {
    file.writeBigUInt64LE(BigInt(value), at + 8 + place * 8);
  }
}

/**
 * A global function.
 * @param {Buffer} file
 * @param {number} at
 * @param {number} name
 * @param {number} address
 * @param {number} size
 */
function writeSymbol(file, at, name, address, size) {
  file.writeUInt32LE(name, at);
  file.writeUInt8(0x12, at + 4);
  file.writeUInt16LE(1, at + 6); // defined here
  file.writeBigUInt64LE(BigInt(address), at + 8);
  file.writeBigUInt64LE(BigInt(size), at + 16);
}

/**
 * A version of the library, with its one name behind it.
 * @param {Buffer} file
 * @param {number} at
 * @param {{ flags: number, index: number, name: string, nameAt: number, next: number }} definition
 */
function writeDefinition(file, at, { flags, index, name, nameAt, next }) {
  for (const [place, value] of [1, flags, index, 1].entries()) file.writeUInt16LE(value, at + place * 2);
  words(file, at + 8, [elfHash(name), 20, next, nameAt, 0]);
}

/**
 * @param {Buffer} file
 * @param {number} at
 * @param {readonly number[]} values
 */
function words(file, at, values) {
  for (const [place, value] of values.entries()) file.writeUInt32LE(value, at + place * 4);
}

/**
 * The hash of names in the System V gABI.
 * @param {string} name
 */
function elfHash(name) {
  let hash = 0;
  for (const byte of Buffer.from(name)) {
    hash = hash * 16 + byte;
    const top = Math.floor(hash / 0x1000_0000) % 16;
    hash = ((hash % 0x1000_0000) ^ (top * 16)) >>> 0;
  }
  return hash;
}
