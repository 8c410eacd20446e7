// What a profile allows, read by a reader of its own; that no path gets out of its quotes; and what there is away from macOS.
import { fakeClock } from "@svc/testkit/fake-clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Profiled, createSeatbelt, profileOf } from "../src/backend.ts";
import { isAllowed, parse, rulesOf } from "./read-profile.ts";

const HOME = "/Users/you/.svc";
const asked: Profiled = {
  workspace: `${HOME}/workspace`,
  network: false,
  readable: ["/Users/you/books"],
  writable: ["/Users/you/out"],
  hidden: [HOME, "/Users/you/.ssh"],
  temporary: "/private/var/folders/x/T/svc-seatbelt-1",
};
const rulesFor = (more: Partial<Profiled> = {}) => rulesOf(profileOf({ ...asked, ...more }));
const can = (operation: string, path?: string, more?: Partial<Profiled>) => isAllowed(rulesFor(more), operation, path);

describe("files", () => {
  test.each([
    ["/Users/you/.svc/workspace/a", true, true],
    ["/Users/you/out/a", true, true],
    ["/private/var/folders/x/T/svc-seatbelt-1/a", true, true],
    ["/Users/you/books/a", true, false],
    ["/usr/lib/libSystem.dylib", true, false],
    ["/private/etc/hosts", true, false],
    ["/dev/null", true, true],
    ["/private/etc/master.passwd", false, false],
    ["/private/etc/sudoers", false, false],
    ["/Users/you/.svc/config.toml", false, false],
    ["/Users/you/.svc/workspace-2/a", false, false],
    ["/Users/you/.ssh/id_ed25519", false, false],
    ["/Users/you/Documents/a", false, false],
    ["/Users/you/Library/Keychains/login.keychain-db", false, false],
    ["/private/tmp/a", false, false],
    ["/private/var/folders/x/T/other", false, false],
    ["/dev/disk0", false, false],
    ["/Applications/Mail.app/Contents/a", false, false],
  ])("%s: read %s, written %s", (path, read, written) => {
    expect(can("file-read-data", path)).toBe(read);
    expect(can("file-write-create", path)).toBe(written);
    expect(can("file-write-unlink", path)).toBe(written);
  });

  test("the way to the workspace can be looked up, and not what lies beside it", () => {
    for (const folder of ["/", "/Users", "/Users/you", HOME]) expect(can("file-read-metadata", folder)).toBe(true);
    expect(can("file-read-metadata", `${HOME}/config.toml`)).toBe(false);
    expect(can("file-read-data", HOME)).toBe(false);
  });

  test("what is hidden stays so inside of what is readable, writable or the workspace", () => {
    const wide = { readable: ["/Users/you"], writable: ["/Users"] };
    expect(can("file-read-data", "/Users/you/.ssh/id", wide)).toBe(false);
    expect(can("file-read-data", `${HOME}/config.toml`, wide)).toBe(false);
    expect(can("file-write-create", `${HOME}/workspace/a`, wide)).toBe(true);
    expect(can("file-write-create", "/Users/you/a", wide)).toBe(true);
    const home = { workspace: "/Users/you", hidden: [HOME] };
    expect(can("file-read-data", "/Users/you/a", home)).toBe(true);
    expect(can("file-read-data", `${HOME}/config.toml`, home)).toBe(false);
  });

  test("a readable folder in the workspace takes nothing away from it", () => {
    expect(can("file-write-create", `${HOME}/workspace/lib/a`, { readable: [`${HOME}/workspace/lib`] })).toBe(true);
  });
});

describe("the rest", () => {
  test("denied is what nothing allows, and that comes first", () => {
    expect(profileOf(asked).split("\n").slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
    for (const operation of ["mach-register", "iokit-open", "system-privilege", "process-info-listpids", "nvram*"]) {
      expect(can(operation, "/anything")).toBe(false);
    }
  });

  test("every rule without a filter is one of these", () => {
    const bare = (network: boolean) =>
      rulesFor({ network }).flatMap(({ action, operations, filters }) =>
        filters.length === 0 ? [`${action} ${operations.join()}`] : [],
      );
    const offline = ["deny default", "allow process-exec", "allow process-fork", "allow ipc-posix-sem"];
    expect(bare(false)).toEqual(offline);
    expect(bare(true)).toEqual([...offline, "allow system-socket"]);
  });

  test("every operation and filter is known", () => {
    const operations = new Set<string>();
    const filters = new Set<unknown>();
    for (const rule of rulesFor({ network: true })) {
      for (const operation of rule.operations) operations.add(operation);
      for (const [name] of rule.filters) filters.add(name);
    }
    expect([...operations].toSorted()).toEqual(OPERATIONS);
    expect([...filters].toSorted()).toEqual(FILTERS);
  });

  test("the network only where it is on, and then by IP, and to no local socket but the resolver's", () => {
    const network = (on: boolean) =>
      rulesFor({ network: on }).filter(
        ({ action, operations }) => action === "allow" && operations.some((each) => /network|socket/.test(each)),
      );
    expect(network(false)).toEqual([]);
    expect(
      network(true)
        .flatMap(({ filters }) => filters.map((filter) => JSON.stringify(filter)))
        .toSorted(),
    ).toEqual([
      '["literal",{"text":"/private/var/run/mDNSResponder"}]',
      '["local","ip",{"text":"*:*"}]',
      '["local","ip",{"text":"*:*"}]',
      '["remote","ip",{"text":"*:*"}]',
    ]);
  });
});

describe("no path gets out of its quotes", () => {
  const path = fc
    .array(
      fc.oneof(
        fc.constantFrom('"', "\\", "(", ")", "\n", ";", "#", "|", " ", '")(allow default)("', "é", "\u{1F600}"),
        fc.string(),
      ),
      { minLength: 1 },
    )
    .map((parts) => `/${parts.join("").replaceAll("\0", "").replaceAll("/", "")}x`);

  test("whatever is in it, it arrives as it is, and the rules are the same", () => {
    const plain = rulesFor({ workspace: "/w", readable: ["/r"], writable: ["/o"], hidden: ["/h"], temporary: "/t" });
    fc.assert(
      fc.property(
        fc.uniqueArray(path, { minLength: 5, maxLength: 5 }),
        ([workspace, readable, writable, hidden, temporary]) => {
          const rules = rulesFor({
            workspace: workspace!,
            readable: [readable!],
            writable: [writable!],
            hidden: [hidden!],
            temporary: temporary!,
          });
          const shape = (of: typeof rules) =>
            of.map(({ action, operations, filters }) => [action, operations, filters.map(([name]) => name)]);
          expect(shape(rules)).toEqual(shape(plain));
          const texts = JSON.stringify(rules);
          for (const each of [workspace, readable, writable, hidden, temporary])
            expect(texts).toContain(JSON.stringify({ text: each }));
          expect(isAllowed(rules, "file-read-data", `${hidden}/a`)).toBe(false);
          expect(isAllowed(rules, "file-write-data", `${workspace}/a`)).toBe(true);
        },
      ),
    );
  });

  test("a NUL is refused", () => {
    expect(() => profileOf({ ...asked, readable: ["/a\0b"] })).toThrow("NUL");
  });

  test("the reader sees what is wrong", () => {
    for (const wrong of ["(", ")", '("', "(a))", '(a "b)']) expect(() => parse(wrong)).toThrow(/bracket|string/);
    expect(() => rulesOf('(version 1)\n(import "bsd.sb")')).toThrow("no rule");
    expect(() => rulesOf("(deny default)")).toThrow("version");
  });
});

test("another system is told that this is not for it", async () => {
  const backend = createSeatbelt({ clock: fakeClock(), platform: "linux" });
  const confinement = { ...asked, limits: {} };
  expect(await backend.probe({ ...confinement, workspace: import.meta.dirname }, new AbortController().signal)).toEqual(
    {
      available: false,
      reason: "Seatbelt is not for this system: it is a part of macOS",
    },
  );
  await expect(backend.open(confinement)).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
});

const OPERATIONS = [
  "default",
  "file-ioctl",
  "file-read*",
  "file-read-metadata",
  "file-write*",
  "ipc-posix-sem",
  "ipc-posix-shm-read-data",
  "mach-lookup",
  "network-bind",
  "network-inbound",
  "network-outbound",
  "process-exec",
  "process-fork",
  "process-info*",
  "signal",
  "sysctl-read",
  "system-socket",
];

const FILTERS = [
  "global-name",
  "ipc-posix-name",
  "literal",
  "local",
  "remote",
  "subpath",
  "sysctl-name",
  "sysctl-name-prefix",
  "target",
];
