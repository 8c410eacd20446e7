/** Plugins as tests need them: real modules, right manifests, and archives as `tar -czf` makes them. */
import { packTar, type TarEntry } from "modern-tar";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import openWabt from "wabt";
import { hashOf } from "../../src/installed.ts";

const wabt = await openWabt();

export const wasmOf = (wat: string): Uint8Array => wabt.parseWat("test.wat", wat).toBinary({}).buffer;

/** A module that may run; `note` makes it another one. */
export const sampleWasm = (note = ""): Uint8Array =>
  wasmOf(`(module (memory 1) (data (i32.const 0) "${note}") (func (export "run") (result i32) (i32.const 0)))`);

export interface Sample {
  readonly name?: string;
  readonly version?: string;
  readonly hosts?: readonly string[];
  readonly wasm?: Uint8Array;
  /** As plugin.toml says; default: the right one. */
  readonly sha256?: string;
  readonly extra?: string;
}

export function sampleToml({
  name = "weather",
  version = "1.0.0",
  hosts = [],
  wasm = sampleWasm(),
  sha256,
  extra = "",
}: Sample): string {
  return [
    `name = "${name}"`,
    `description = "Tells the weather. The input is a place."`,
    `version = "${version}"`,
    `wasm = "plugin.wasm"`,
    `sha256 = "${sha256 ?? hashOf(wasm)}"`,
    `allowed_hosts = ${JSON.stringify(hosts)}`,
    extra,
    "",
  ].join("\n");
}

/** Returns the folder. */
export function writeSample(folder: string, sample: Sample = {}): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "plugin.toml"), sampleToml(sample));
  writeFileSync(join(folder, "plugin.wasm"), sample.wasm ?? sampleWasm());
  return folder;
}

export const sampleEntries = (sample: Sample = {}, prefix = ""): TarEntry[] => [
  entry(`${prefix}plugin.toml`, sampleToml(sample)),
  entry(`${prefix}plugin.wasm`, sample.wasm ?? sampleWasm()),
];

export function entry(name: string, body: string | Uint8Array = ""): TarEntry {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { header: { name, size: bytes.byteLength, mtime: new Date(0) }, body: bytes };
}

export const archiveOf = async (entries: readonly TarEntry[]): Promise<Uint8Array> => gzipSync(await packTar(entries));
