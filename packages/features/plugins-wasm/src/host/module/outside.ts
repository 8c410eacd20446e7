/** What a module asks for and offers, read without compiling a line of it. */
import { BinaryReader, MalformedModule } from "./binary-reader.ts";

export interface ModuleOutside {
  readonly imports: readonly ModuleImport[];
  /** Names of exported functions. */
  readonly functions: ReadonlySet<string>;
  /** Its own; those it imports are among the imports. */
  readonly memories: readonly ModuleMemory[];
  readonly tables: number;
}

export interface ModuleImport {
  readonly module: string;
  readonly name: string;
  readonly kind: "function" | "table" | "memory" | "global" | "tag";
}

export interface ModuleMemory {
  /** Pages it begins with. */
  readonly minimum: number;
  /** Shared between threads, addressed by 64 bits, or with pages of another size. */
  readonly isUnusual: boolean;
}

/** Throws MalformedModule. What is inside of its functions is the engine's to judge. */
export function readOutside(bytes: Uint8Array): ModuleOutside {
  const reader = new BinaryReader(bytes);
  if (!isDeepEqual(reader.take(8), MAGIC_AND_VERSION)) throw new MalformedModule();
  const imports: ModuleImport[] = [];
  const functions = new Set<string>();
  const memories: ModuleMemory[] = [];
  let tables = 0;
  while (!reader.isAtEnd) {
    const id = reader.byte();
    const section = reader.part(reader.u32());
    if (id === SECTION.import) imports.push(...list(section, importOf));
    else if (id === SECTION.memory) memories.push(...list(section, memoryOf));
    else if (id === SECTION.table) tables += section.u32();
    else if (id === SECTION.export)
      for (const name of list(section, functionOf)) if (name !== undefined) functions.add(name);
  }
  return { imports, functions, memories, tables };
}

const MAGIC_AND_VERSION = Uint8Array.of(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);
const SECTION = { import: 2, table: 4, memory: 5, export: 7 } as const;

const isDeepEqual = (one: Uint8Array, other: Uint8Array): boolean => one.every((byte, at) => byte === other[at]);

/** A section that is longer than its list is as malformed as one that is shorter. */
function list<Item>(section: BinaryReader, item: (section: BinaryReader) => Item): Item[] {
  const items: Item[] = [];
  for (let left = section.u32(); left > 0; left -= 1) items.push(item(section));
  if (!section.isAtEnd) throw new MalformedModule();
  return items;
}

function importOf(section: BinaryReader): ModuleImport {
  const [module, name] = [section.name(), section.name()];
  switch (section.byte()) {
    case 0x00:
      section.u32();
      return { module, name, kind: "function" };
    case 0x01:
      referenceType(section);
      limits(section);
      return { module, name, kind: "table" };
    case 0x02:
      limits(section);
      return { module, name, kind: "memory" };
    case 0x03:
      valueType(section);
      section.byte();
      return { module, name, kind: "global" };
    case 0x04:
      section.byte();
      section.u32();
      return { module, name, kind: "tag" };
    default:
      throw new MalformedModule();
  }
}

function memoryOf(section: BinaryReader): ModuleMemory {
  const { flags, minimum } = limits(section);
  return { minimum, isUnusual: flags > 1 };
}

function functionOf(section: BinaryReader): string | undefined {
  const name = section.name();
  const kind = section.byte();
  section.u32();
  return kind === 0x00 ? name : undefined;
}

/** Bits of the flags: there is a maximum, it is shared, its addresses have 64 bits, it tells its page size. */
function limits(section: BinaryReader): { flags: number; minimum: number } {
  const flags = section.byte();
  if (flags > 0x0f) throw new MalformedModule();
  const minimum = section.u32();
  if (flags & 0x01) section.u32();
  if (flags & 0x08) section.u32();
  return { flags, minimum };
}

/** `(ref ht)` and `(ref null ht)` tell their heap type, all others are one byte. */
function referenceType(section: BinaryReader): void {
  const first = section.byte();
  if (first === 0x63 || first === 0x64) section.u32();
}

const valueType = referenceType;
