/**
 * A Linux binary that doesn't load `libatomic.so.1`. Node takes one function from it, and small images lack it.
 *
 * The function's code goes into the padding behind the binary's own code; the relocation that asked the loader for the
 * library's function becomes the address of that; and the library leaves the lists of what is needed. Nothing moves, and the
 * file keeps its length. Formats: System V gABI (ELF-64), the psABIs of x86-64 and AArch64, and the LSB's symbol versions.
 */
import { exchangeCode, soname, symbol } from "@svc/bootstrap/atomic-exchange";

interface Segment {
  /** Of its header in the file. */
  readonly headerAt: number;
  readonly type: number;
  readonly isCode: boolean;
  readonly offset: number;
  readonly address: number;
  readonly fileBytes: number;
}

/** Relocation types: of a function or an address of another file, and of a place in this one. */
const RELOCATIONS: Readonly<Record<number, { readonly imports: readonly number[]; readonly relative: number }>> = {
  62: { imports: [6, 7], relative: 8 }, // R_X86_64_GLOB_DAT, _JUMP_SLOT, _RELATIVE
  183: { imports: [1025, 1026], relative: 1027 }, // R_AARCH64_*
};

const LOAD = 1;
const DYNAMIC = 2;
const DT = {
  NEEDED: 1,
  PLTRELSZ: 2,
  STRTAB: 5,
  SYMTAB: 6,
  RELA: 7,
  RELASZ: 8,
  JMPREL: 23,
  FLAGS_1: 0x6fff_fffb,
  VERSYM: 0x6fff_fff0,
  VERNEED: 0x6fff_fffe,
  VERNEEDNUM: 0x6fff_ffff,
} as const;
/** In DT_FLAGS_1: the loader looks at every relocation before the program starts. */
const NOW = 1;

/**
 * Changes `file` in place; without an effect where the library isn't needed. Throws an Error, and has changed nothing, where
 * the binary has another form than those that were tried: then it needs the library as before.
 */
export function removeLibatomic(file: Buffer): void {
  const machine = file.readUInt16LE(18);
  const code = exchangeCode.get(machine);
  const types = RELOCATIONS[machine];
  if (file.readUInt32BE(0) !== 0x7f45_4c46 || !code || !types)
    throw new Error(`no ELF file of a known machine (${machine})`);
  const elf = new Elf(file);
  const needed = elf.entries.find(({ tag, value }) => tag === DT.NEEDED && elf.text(value) === soname);
  if (!needed) return;
  // With lazy binding the loader would not take such a relocation among those of functions.
  if ((elf.value(DT.FLAGS_1) & NOW) === 0) throw new Error("its functions are bound lazily");
  const version = elf.versionNeed(soname);
  const uses = elf.relocations().filter(({ symbolAt }) => version.indexes.has(elf.versionOf(symbolAt)));
  const [use] = uses;
  if (!use || uses.length > 1 || elf.symbolName(use.symbolAt) !== symbol || !types.imports.includes(use.type)) {
    throw new Error(`it takes more from ${soname} than ${symbol}`);
  }
  const { offset, address } = elf.reserveCode(code.length);
  code.copy(file, offset);
  file.writeBigUInt64LE(BigInt(types.relative), use.at + 8);
  file.writeBigUInt64LE(BigInt(address), use.at + 16);
  elf.removeVersionNeed(version);
  elf.removeEntry(needed.at);
}

interface VersionNeed {
  readonly at: number;
  /** Of the record before it, if there is one. */
  readonly before: number | undefined;
  /** Distance of the one after it; 0: it is the last. */
  readonly next: number;
  readonly indexes: ReadonlySet<number>;
}

interface Relocation {
  readonly at: number;
  readonly type: number;
  readonly symbolAt: number;
}

/** An ELF-64 file, little endian, as far as its loader looks at it. All places are offsets in the file. */
class Elf {
  readonly #file: Buffer;
  readonly #segments: readonly Segment[];

  constructor(file: Buffer) {
    this.#file = file;
    const first = this.#number(32);
    const size = file.readUInt16LE(54);
    this.#segments = Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
      const headerAt = first + index * size;
      return {
        headerAt,
        type: file.readUInt32LE(headerAt),
        isCode: (file.readUInt32LE(headerAt + 4) & 1) === 1,
        offset: this.#number(headerAt + 8),
        address: this.#number(headerAt + 16),
        fileBytes: this.#number(headerAt + 32),
      };
    });
  }

  /** Of the dynamic section, up to its end mark. */
  get entries(): { at: number; tag: number; value: number }[] {
    const { offset, fileBytes } = this.#only(({ type }) => type === DYNAMIC);
    const all = Array.from({ length: fileBytes / 16 }, (_, index) => {
      const at = offset + index * 16;
      return { at, tag: this.#number(at), value: this.#number(at + 8) };
    });
    return all.slice(
      0,
      all.findIndex(({ tag }) => tag === 0),
    );
  }

  value(tag: number): number {
    return this.entries.find((entry) => entry.tag === tag)?.value ?? 0;
  }

  text(name: number): string {
    const at = this.#place(this.value(DT.STRTAB)) + name;
    return this.#file.toString("latin1", at, this.#file.indexOf(0, at));
  }

  relocations(): Relocation[] {
    const symbols = this.#place(this.value(DT.SYMTAB));
    const tables = [
      [DT.RELA, DT.RELASZ],
      [DT.JMPREL, DT.PLTRELSZ],
    ] as const;
    return tables.flatMap(([table, bytes]) => {
      const first = this.#place(this.value(table));
      return Array.from({ length: this.value(bytes) / 24 }, (_, index) => {
        const at = first + index * 24;
        const symbolAt = symbols + this.#file.readUInt32LE(at + 12) * 24;
        return { at, type: this.#file.readUInt32LE(at + 8), symbolAt };
      });
    });
  }

  symbolName(symbolAt: number): string {
    return this.text(this.#file.readUInt32LE(symbolAt));
  }

  /** Its index among the versions that are needed, without the mark of a hidden one. */
  versionOf(symbolAt: number): number {
    const index = (symbolAt - this.#place(this.value(DT.SYMTAB))) / 24;
    return this.#file.readUInt16LE(this.#place(this.value(DT.VERSYM)) + index * 2) & 0x7fff;
  }

  versionNeed(library: string): VersionNeed {
    const file = this.#file;
    let before: number | undefined;
    for (let at = this.#place(this.value(DT.VERNEED)); ;) {
      const next = file.readUInt32LE(at + 12);
      if (this.text(file.readUInt32LE(at + 4)) === library) return { at, before, next, indexes: this.#versionsAt(at) };
      if (next === 0) throw new Error(`it needs no version of ${library}`);
      before = at;
      at += next;
    }
  }

  #versionsAt(at: number): Set<number> {
    const indexes = new Set<number>();
    let aux = at + this.#file.readUInt32LE(at + 8);
    for (let left = this.#file.readUInt16LE(at + 2); left > 0; left -= 1) {
      indexes.add(this.#file.readUInt16LE(aux + 6));
      aux += this.#file.readUInt32LE(aux + 12);
    }
    return indexes;
  }

  removeVersionNeed({ before, next, at }: VersionNeed): void {
    this.#change(DT.VERNEEDNUM, -1);
    if (before === undefined) this.#change(DT.VERNEED, next);
    else this.#file.writeUInt32LE(next === 0 ? 0 : at + next - before, before + 12);
  }

  #change(tag: number, by: number): void {
    const { at, value } = this.entries.find((entry) => entry.tag === tag)!;
    this.#file.writeBigUInt64LE(BigInt(value + by), at + 8);
  }

  /** Those behind it move up, the end mark too. */
  removeEntry(at: number): void {
    const end = this.entries.at(-1)!.at + 32;
    this.#file.copyWithin(at, at + 16, end);
  }

  /** Room for code that nothing uses, as part of the code's segment. */
  reserveCode(bytes: number): { offset: number; address: number } {
    const { headerAt, offset, address, fileBytes } = this.#only(({ type, isCode }) => type === LOAD && isCode);
    const end = offset + fileBytes;
    const at = Math.ceil(end / 16) * 16;
    const next = Math.min(...this.#segments.filter((other) => other.offset >= end).map((other) => other.offset));
    const padding = this.#file.subarray(end, at + bytes);
    const isFree = at + bytes <= next && padding.every((byte) => byte === 0);
    if (!isFree || this.#number(headerAt + 40) !== fileBytes) throw new Error("there is no room behind its code");
    const grown = BigInt(at + bytes - offset);
    this.#file.writeBigUInt64LE(grown, headerAt + 32);
    this.#file.writeBigUInt64LE(grown, headerAt + 40);
    return { offset: at, address: address + at - offset };
  }

  #only(isIt: (segment: Segment) => boolean): Segment {
    const found = this.#segments.filter(isIt);
    if (found.length !== 1) throw new Error("it has other segments than Node's");
    return found[0]!;
  }

  /** Where an address of the running program is in the file. */
  #place(address: number): number {
    const segment = this.#segments.find(
      (one) => one.type === LOAD && address >= one.address && address < one.address + one.fileBytes,
    );
    if (!segment) throw new Error("it refers to what is not in it");
    return segment.offset + address - segment.address;
  }

  #number(at: number): number {
    return Number(this.#file.readBigUInt64LE(at));
  }
}
