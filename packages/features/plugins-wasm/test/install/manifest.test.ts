// plugin.toml comes from whoever wrote the plugin. What is not exactly a manifest is refused with the key that is wrong, nothing of
// it is quoted, and no text, however strange, writes into an object that others use.
import { cases } from "@svc/cases";
import { SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHostName, readManifest } from "../../src/manifest.ts";
import { sampleToml } from "./sample.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string) => readManifest(bytes(text));

function refusal(work: () => unknown): SvcError {
  try {
    work();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

function outcome(work: () => unknown): unknown {
  try {
    work();
    return "read";
  } catch (error) {
    return error instanceof SvcError ? error.code : error;
  }
}

test("a manifest with all keys is read as it is", () => {
  const limits = "[limits]\nmemory_mb = 32\ntimeout_ms = 500\nmax_output_kb = 16";
  const hosts = ["api.example.org", "api.example.org:8443", "192.0.2.1", "[2001:db8::1]:8443"];
  expect(read(sampleToml({ hosts, extra: limits }))).toMatchObject({
    name: "weather",
    version: "1.0.0",
    wasm: "plugin.wasm",
    allowed_hosts: hosts,
    limits: { memory_mb: 32, timeout_ms: 500, max_output_kb: 16 },
  });
});

test("what is left out is as the guide says", () => {
  expect(read(sampleToml({}).replace(/^allowed_hosts.*$/m, ""))).toMatchObject({
    allowed_hosts: [],
    limits: { memory_mb: 64, timeout_ms: 10_000, max_output_kb: 64 },
  });
});

test("Windows' line ends and a mark of the byte order are no fault", () => {
  expect(read(`\ufeff${sampleToml({}).replaceAll("\n", "\r\n")}`).name).toBe("weather");
});

describe("refused, and the key is named", () => {
  test.each<[string, string, string]>([
    ["a path as the name", 'name = "../weather"', "name"],
    ["a name with a capital", 'name = "Weather"', "name"],
    ["a name too long for its prefix", `name = "${"a".repeat(58)}"`, "name"],
    ["a name that is no text", "name = 7", "name"],
    ["an empty description", 'description = " "', "description"],
    ["a description of two lines", 'description = "a\\nb"', "description"],
    ["a description that drives a terminal", 'description = "\\u001b[2J"', "description"],
    ["a description that is read backwards", 'description = "a\\u202eb"', "description"],
    ["a description without an end", `description = "${"a".repeat(1025)}"`, "description"],
    ["a version of two numbers", 'version = "1.0"', "version"],
    ["a version with zeros in front", 'version = "01.0.0"', "version"],
    ["a path as the wasm file", 'wasm = "../plugin.wasm"', "wasm"],
    ["an absolute wasm file", 'wasm = "/etc/passwd.wasm"', "wasm"],
    ["a hidden wasm file", 'wasm = ".wasm"', "wasm"],
    ["a backslash", 'wasm = "a\\\\b.wasm"', "wasm"],
    ["a short hash", 'sha256 = "abc"', "sha256"],
    ["a hash in capitals", `sha256 = "${"A".repeat(64)}"`, "sha256"],
    ["any host", 'allowed_hosts = ["*"]', "allowed_hosts"],
    ["a host twice", 'allowed_hosts = ["a.org", "a.org"]', "allowed_hosts"],
    ["a URL as a host", 'allowed_hosts = ["https://a.org"]', "allowed_hosts"],
    ["hosts that are no list", 'allowed_hosts = "a.org"', "allowed_hosts"],
    [
      "33 hosts",
      `allowed_hosts = [${Array.from({ length: 33 }, (_, at) => `"a${at}.org"`).join(",")}]`,
      "allowed_hosts",
    ],
  ])("%s", (_, line, key) => {
    const own = new RegExp(`^${key} = .*$`, "m");
    const error = refusal(() => read(sampleToml({}).replace(own, () => line)));
    expect(error.code).toBe("PLUGIN_INVALID");
    expect(error.message).toContain(`- ${key} must be `);
    expect(error.message.split("\n")).toHaveLength(2);
  });

  test.each(["name", "description", "version", "wasm", "sha256"])("%s is missing", (key) => {
    const error = refusal(() => read(sampleToml({}).replace(new RegExp(`^${key} = .*$`, "m"), "")));
    expect(error.message).toContain(`- ${key} must be `);
  });

  test.each([
    ["memory_mb = 0", "limits.memory_mb"],
    ["memory_mb = 1025", "limits.memory_mb"],
    ["memory_mb = 1.5", "limits.memory_mb"],
    ["memory_mb = 9223372036854775807", "limits.memory_mb"],
    ["timeout_ms = 120001", "limits.timeout_ms"],
    ["timeout_ms = inf", "limits.timeout_ms"],
    ["max_output_kb = -1", "limits.max_output_kb"],
    ['max_output_kb = "64"', "limits.max_output_kb"],
  ])("%s", (line, key) => {
    expect(refusal(() => read(sampleToml({ extra: `[limits]\n${line}` }))).message).toContain(`- ${key} must be `);
  });

  test("all at once, and none of what was received", () => {
    const { message } = refusal(() =>
      read(sampleToml({ name: "SECRET_A", version: "SECRET_B", extra: 'SECRET_C = "x"\n[limits]\nSECRET_D = 1' })),
    );
    expect(message).not.toContain("SECRET");
    expect(message.split("\n").slice(1)).toEqual([
      "  - a key that nothing knows; known are: name, description, version, wasm, sha256, allowed_hosts, limits",
      "  - a key in [limits] that nothing knows; known are: memory_mb, timeout_ms, max_output_kb",
      expect.stringContaining("- name must be "),
      expect.stringContaining("- version must be "),
    ]);
  });
});

describe("what is no manifest at all", () => {
  test.each([
    ["an open text", 'name = "'],
    ["a table in a line", "limits = { memory_mb = 1 }"],
    ["names with dots", "limits.memory_mb = 1"],
    ["a table in a table", "[limits.more]\nx = 1"],
    ["a list of tables", "[[limits]]\nmemory_mb = 1"],
    ["lists in lists", `allowed_hosts = ${"[".repeat(5000)}${"]".repeat(5000)}`],
    ["a key twice", 'name = "a"\nname = "b"'],
  ])("%s", (_, text) => {
    expect(refusal(() => read(text))).toMatchObject({
      code: "PLUGIN_INVALID",
      message: expect.stringMatching(/line \d+|TOML/),
    });
  });

  test("bytes that are no UTF-8", () => {
    expect(refusal(() => readManifest(Uint8Array.of(0x6e, 0xff, 0xfe)))).toMatchObject({ code: "PLUGIN_INVALID" });
  });
});

describe("no text writes into what others use", () => {
  const INHERITED = Object.getOwnPropertyNames(Object.prototype);
  const shapes = (word: string): string[] => [
    `[${word}]\npolluted = 1`,
    `[${word}.prototype]\npolluted = 1`,
    `[limits.${word}]\npolluted = 1`,
    `[["${word}"]]\npolluted = 1`,
    `${word}.polluted = 1`,
    `"\\u${word.charCodeAt(0).toString(16).padStart(4, "0")}${word.slice(1)}".polluted = 1`,
    `[limits]\n${word} = 1`,
    `${word} = 1`,
    `name = { ${word}.polluted = 1 }`,
  ];
  test.each(INHERITED)("%s", (word) => {
    for (const shape of shapes(word)) {
      expect(refusal(() => read(`${sampleToml({})}${shape}`)).code).toBe("PLUGIN_INVALID");
      for (const object of [Object, Object.prototype, Array.prototype, Function.prototype, Object.prototype.toString]) {
        expect(Object.getOwnPropertyNames(object)).not.toContain("polluted");
      }
    }
  });
});

test("any text is a manifest or PLUGIN_INVALID, never anything else", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(
      "[limits]",
      "name = ",
      '"""',
      "'''",
      "a.b = 1",
      "[[x]]",
      "x = {",
      "\u0000",
      "# c",
      'wasm = "a.wasm"',
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      expect(["read", "PLUGIN_INVALID"]).toContain(outcome(() => read(`${sampleToml({})}${lines.join("\n")}`)));
    }),
    { numRuns: cases(2000) },
  );
});

describe("a host has one spelling", () => {
  test.each([
    "example.org",
    "a-b.example.org",
    "xn--bcher-kva.example",
    "localhost",
    "192.0.2.1",
    "[::1]",
    "example.org:8443",
  ])("%s", (host) => {
    expect(isHostName(host)).toBe(true);
  });
  test.each([
    "",
    "Example.org",
    "bücher.example",
    "example.org.",
    ".example.org",
    "a..b",
    "*.example.org",
    "example.org:443",
    "example.org:80",
    "example.org:0",
    "example.org:08443",
    "example.org:65536",
    "example.org/",
    "user@example.org",
    "https://example.org",
    "0x7f.1",
    "127.1",
    "2130706433",
    "[::0001]",
    "::1",
    "exa mple.org",
    "example.org\n",
    "a".repeat(256),
  ])("not %j", (host) => {
    expect(isHostName(host)).toBe(false);
  });

  test("a host that is taken is what a URL with it reaches", () => {
    fc.assert(
      fc.property(fc.oneof(fc.webAuthority(), fc.domain(), fc.string()), (text) => {
        expect(!isHostName(text) || new URL(`https://${text}/x`).host === text).toBe(true);
      }),
      { numRuns: cases(2000) },
    );
  });
});
