// An archive from the internet: two files are taken out of it, in memory, and no name in it is ever a path on this machine. What no
// honest archive has is refused as a whole.
import { cases } from "@svc/cases";
import { SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { packTar, type TarEntry, type TarHeader } from "modern-tar";
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MAX_UNPACKED_BYTES, unpackPlugin } from "../../src/install/source.ts";
import { archiveOf, entry, sampleEntries, sampleToml, sampleWasm } from "./sample.ts";

const MiB = 1024 * 1024;
const REFUSED = /^The archive (?:is|has|unpacks) /;

/** What is said against it. Rejects where nothing is, and with what is not said to a person. */
async function refusal(archive: Uint8Array): Promise<string> {
  const error: unknown = await taken(archive).then(
    () => new Error("it was not refused"),
    (error: unknown) => error,
  );
  if (error instanceof SvcError && error.code === "PLUGIN_INVALID") return error.message;
  throw error;
}

async function taken(archive: Uint8Array): Promise<{ toml: string; wasm: Uint8Array }> {
  const files = await unpackPlugin(archive);
  return { toml: Buffer.from(files.toml).toString(), wasm: await files.wasm("plugin.wasm") };
}

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "read",
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );

describe("an honest archive", () => {
  const folder = (name: string): TarEntry => ({ header: { name, size: 0, type: "directory" } });
  test.each<[string, TarEntry[]]>([
    ["has two files", sampleEntries()],
    ["says ./ in front", [folder("./"), ...sampleEntries({}, "./")]],
    ["has one folder at the top", [folder("weather-1.0.0/"), ...sampleEntries({}, "weather-1.0.0/")]],
    [
      "has other files beside",
      [...sampleEntries(), entry("README.md", "# x"), folder("src/"), entry("src/plugin (1).ts", "x")],
    ],
  ])("%s", async (_, entries) => {
    expect(await taken(await archiveOf(entries))).toEqual({ toml: sampleToml({}), wasm: sampleWasm() });
  });
});

describe("refused", () => {
  const all = async (...more: TarEntry[]): Promise<Uint8Array> => archiveOf([...sampleEntries(), ...more]);
  const special = (type: NonNullable<TarHeader["type"]>, linkname = "/etc/passwd"): TarEntry => ({
    header: { name: "x", size: 0, type, linkname },
  });

  test.each(["symlink", "link", "character-device", "block-device", "fifo"] as const)("a %s", async (type) => {
    expect(await refusal(await all(special(type)))).toContain("a link or a device");
  });

  test("plugin.toml that is a link to a file in the archive", async () => {
    const [toml, wasm] = sampleEntries();
    const linked: TarEntry = { header: { name: "plugin.toml", size: 0, type: "link", linkname: "other.toml" } };
    expect(
      await refusal(await archiveOf([{ ...toml!, header: { ...toml!.header, name: "other.toml" } }, linked, wasm!])),
    ).toMatch(REFUSED);
  });

  test.each([
    "../x",
    "a/../../x",
    "a/..",
    "/etc/cron.d/x",
    "//x",
    "a//b",
    "a/./b",
    "C:\\x",
    "C:x",
    "a\\..\\x",
    "\\\\server\\share",
    "a\u0007b",
    "a\nb",
    "a\u202eb",
    "~root/.ssh/*",
    "a:stream",
    ".",
    "..",
    "...",
    "a/b/c/d/e/f/g/h/i",
    `${"a".repeat(256)}`,
  ])("an entry named %j", async (name) => {
    expect(await refusal(await all(entry(name, "x")))).toMatch(REFUSED);
  });

  test.each([
    ["plugin.toml", "plugin.toml"],
    ["plugin.wasm", "./plugin.wasm"],
    ["plugin.wasm", "PLUGIN.WASM"],
  ])("%s and %s", async (_, second) => {
    expect(await refusal(await all(entry(second, "x")))).toContain("two entries of one name");
  });

  test("more than a hundred entries", async () => {
    expect(await refusal(await all(...Array.from({ length: 99 }, (_, at) => entry(`f${at}`))))).toContain(
      "more than 100",
    );
  });

  test("no plugin.toml, no wasm file, a large plugin.toml", async () => {
    const [toml, wasm] = sampleEntries();
    expect(await refusal(await archiveOf([wasm!]))).toContain("plugin.toml");
    expect(await refusal(await archiveOf([toml!]))).toContain("no wasm file");
    expect(await refusal(await archiveOf([entry("plugin.toml", "#".repeat(16 * 1024 + 1)), wasm!]))).toContain(
      "16 KiB",
    );
  });

  test("two folders at the top", async () => {
    expect(await refusal(await archiveOf([...sampleEntries({}, "a/"), ...sampleEntries({}, "b/")]))).toMatch(REFUSED);
  });

  test.each([
    ["nothing", new Uint8Array()],
    ["a page", Buffer.from("<!doctype html>")],
    ["a wasm file", Buffer.from(sampleWasm())],
    ["gzip of a page", gzipSync("<!doctype html>")],
    ["gzip of nothing", gzipSync("")],
  ])("%s", async (_, bytes) => {
    expect(await refusal(bytes)).toMatch(REFUSED);
  });

  test("a tar that is not compressed", async () => {
    expect(await refusal(await packTar(sampleEntries()))).toMatch(REFUSED);
  });
});

describe("bombs", () => {
  test("a gigabyte of zeros in a megabyte ends at twenty", async () => {
    const member = gzipSync(Buffer.alloc(16 * MiB));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    expect(bomb.byteLength).toBeLessThan(2 * MiB);
    const before = process.memoryUsage().arrayBuffers;
    expect(await refusal(bomb)).toContain("unpacks to more than 20 MiB");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MiB);
  });

  test("an entry that says it has eight gigabytes", async () => {
    const tar = Buffer.from(await packTar(sampleEntries()));
    tar.write("77777777777\0", 124, "latin1");
    expect(await refusal(gzipSync(withChecksum(tar)))).toMatch(REFUSED);
  });

  test("a size that pax says is another", async () => {
    const [toml, wasm] = sampleEntries();
    const pax = { xize: "99999999999999" };
    const tar = Buffer.from(await packTar([{ ...toml!, header: { ...toml!.header, pax } }, wasm!]));
    tar.write("size", tar.indexOf("xize=9999"), "latin1");
    expect(await refusal(gzipSync(tar))).toMatch(REFUSED);
  });

  test("as many entries as fit", async () => {
    const tar = await packTar(Array.from({ length: 30_000 }, (_, at) => entry(`f${at}`)));
    expect(tar.byteLength).toBeLessThan(MAX_UNPACKED_BYTES);
    expect(await refusal(gzipSync(tar))).toContain("more than 100");
  });
});

/** Of the first header, as POSIX says. */
function withChecksum(tar: Buffer): Buffer {
  tar.fill(0x20, 148, 156);
  const sum = tar.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  tar.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return tar;
}

describe("damage", () => {
  test("cut off anywhere, it is refused or whole", async () => {
    const archive = await archiveOf(sampleEntries());
    for (let length = 0; length < archive.byteLength; length += 7) {
      expect(await refusal(archive.subarray(0, length))).toMatch(REFUSED);
    }
  });

  test("with bytes changed, it is refused or read, and nothing else happens", async () => {
    const tar = await packTar(sampleEntries({ wasm: randomBytes(700) }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(tar.byteLength - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        async (changes) => {
          const changed = Buffer.from(tar);
          for (const [at, byte] of changes) changed[at] = byte;
          expect(["read", "PLUGIN_INVALID"]).toContain(await outcome(taken(gzipSync(changed))));
        },
      ),
      { numRuns: cases(300) },
    );
  });
});

test("any name is a file's or refused; what is taken is what was packed", async () => {
  const part = fc.oneof(
    fc.constantFrom("..", ".", "", "a", "plugin.toml", "~", "C:", "\\", "con", "é"),
    fc.string({ maxLength: 5 }),
  );
  const name = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 4 }), async (names) => {
      const archive = await archiveOf([...sampleEntries(), ...names.map((one) => entry(one, "x"))]);
      const read = taken(archive);
      const right = { toml: sampleToml({}), wasm: sampleWasm() };
      expect([right, undefined]).toContainEqual(await read.catch(() => undefined));
      expect(["read", "PLUGIN_INVALID"]).toContain(await outcome(read));
    }),
    { numRuns: cases(300) },
  );
});
