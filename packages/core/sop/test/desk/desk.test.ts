// Files of procedures that are overwritten, half written, written outside, written wrong, or by whom nobody knows.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Json, SvcError, type Workspace } from "@svc/contract";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SopDesk } from "../../src/desk/desk.ts";
import { templateOf } from "../../src/desk/draft.ts";

let home: TemporaryHome;
let desk: SopDesk;
let audit: Json[];
let reloads: number;
let secret: string;

beforeEach(() => {
  home = temporaryHome();
  mkdirSync(join(home.path, "workspace"));
  audit = [];
  reloads = 0;
  secret = "\0";
  desk = new SopDesk({
    folder: () => join(home.path, "workspace", "sops"),
    rules: () => ({ defaultMode: "supervised", reserved: ["/health"] }),
    known: () => ({ nowMs: 0, tools: ["file_read"] }),
    workspace: async (root) => plainWorkspace(root),
    library: { reload: async () => void (reloads += 1) },
    audit: async (kind, data) => void audit.push({ kind, ...(data as object) }),
    redact: (text) => text.replaceAll(secret, "…"),
  });
});
afterEach(() => home.remove());

/** Writes where it is told; the real one is tested beside the agent. */
const plainWorkspace = (root: string): Pick<Workspace, "write" | "remove"> => ({
  write: async (path, content) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content as Uint8Array);
  },
  remove: async (path) => {
    rmSync(join(root, path));
    return true;
  },
});

const at = (path: string): string => join(home.path, "workspace", "sops", path);
const put = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const TOML = '# mine\n[sop]\ndescription = "d" # why\n\n[[triggers]]\ntype = "manual"\n';
const MD = "## Steps\n\n1. **Look** — at it\n";
const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => undefined,
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );

test("a new one is made of the template, loaded and written down; its name is taken then", async () => {
  const { toml, markdown, problems, form } = await desk.check("tidy", undefined, []);
  expect([problems, form]).toMatchObject([[], { sop: { enabled: false }, steps: [{ title: "First step" }] }]);
  const saved = await desk.save("tidy", { toml, markdown, revision: undefined }, "device phone");
  expect([readFileSync(at("tidy/SOP.toml"), "utf8"), readFileSync(at("tidy/SOP.md"), "utf8")]).toEqual([
    toml,
    markdown,
  ]);
  expect(reloads).toBe(1);
  expect(audit).toEqual([
    { kind: "sop-change", sop: "tidy", what: "create", by: "device phone", before: null, after: saved.revision },
  ]);
  expect(await codeOf(desk.save("tidy", { toml, markdown, revision: undefined }, "x"))).toBe("SOP_EXISTS");
  expect((await desk.read("tidy")).revision).toBe(saved.revision);
});

test("of two editors the second is refused, and so is one whom an editor of files overtook", async () => {
  put("a/SOP.toml", TOML);
  put("a/SOP.md", MD);
  const { revision } = await desk.read("a");
  const change = (description: string) => ({ toml: TOML.replace('"d"', description), markdown: MD, revision });
  const both = await Promise.all([
    codeOf(desk.save("a", change('"1"'), "x")),
    codeOf(desk.save("a", change('"2"'), "x")),
  ]);
  expect(both).toEqual([undefined, "SOP_CHANGED"]);
  expect(readFileSync(at("a/SOP.toml"), "utf8")).toContain('"1"');
  const again = await desk.read("a");
  put("a/SOP.md", `${MD}2. **More**\n`);
  expect(await codeOf(desk.save("a", { ...change('"3"'), revision: again.revision }, "x"))).toBe("SOP_CHANGED");
  expect(readFileSync(at("a/SOP.md"), "utf8")).toContain("More");
});

test("what is wrong is refused with file and line, and nothing is written", async () => {
  const wrong = TOML.replace("[[triggers]]", 'priority = "urgent"\n\n[[triggers]]');
  const refused = await desk
    .save("a", { toml: wrong, markdown: MD, revision: undefined }, "x")
    .catch((error: Error) => error);
  expect(refused).toMatchObject({ code: "SOP_INVALID", message: expect.stringContaining("SOP.toml:5  sop.priority") });
  const noStep = await desk
    .save("a", { toml: TOML, markdown: "## Steps\n", revision: undefined }, "x")
    .catch((error: Error) => error);
  expect(noStep).toMatchObject({ code: "SOP_INVALID", message: expect.stringContaining("SOP.md") });
  expect(existsSync(at("a"))).toBe(false);
  for (const name of ["../x", "A", "", ".", "a/b", "a".repeat(65), "__proto__"]) {
    expect(await codeOf(desk.save(name, { toml: TOML, markdown: MD, revision: undefined }, "x"))).toBe("SOP_INVALID");
  }
  const half = { toml: TOML.replace("# mine", "# \ud800"), markdown: MD, revision: undefined };
  expect(await codeOf(desk.save("a", half, "x"))).toBe("SOP_INVALID");
  const huge = { toml: TOML, markdown: `${MD}\n${"x".repeat(256 * 1024)}`, revision: undefined };
  expect(await codeOf(desk.save("a", huge, "x"))).toBe("SOP_INVALID");
  expect(existsSync(join(home.path, "workspace", "sops"))).toBe(false);
});

test("a switch and a copy change one key and keep comments; a copy is off, and has no name of the other", async () => {
  put("a/SOP.toml", TOML.replace("[sop]\n", '[sop]\nname = "a"\n'));
  put("a/SOP.md", MD);
  await desk.setEnabled("a", false, "x");
  const off = readFileSync(at("a/SOP.toml"), "utf8");
  expect(off).toContain("enabled = false");
  expect(
    off
      .split("\n")
      .filter((line) => !line.startsWith("enabled"))
      .join("\n"),
  ).toBe(TOML.replace("[sop]\n", '[sop]\nname = "a"\n'));
  await desk.setEnabled("a", true, "x");
  expect(readFileSync(at("a/SOP.toml"), "utf8")).toContain("enabled = true");
  await desk.duplicate("a", "b", "x");
  expect(await desk.read("b")).toMatchObject({ form: { sop: { enabled: false, description: "d" } }, problems: [] });
  expect(readFileSync(at("b/SOP.toml"), "utf8")).toContain("# mine");
  expect(await codeOf(desk.duplicate("a", "b", "x"))).toBe("SOP_EXISTS");
  expect(await codeOf(desk.duplicate("none", "c", "x"))).toBe("SOP_UNKNOWN");
  expect(await codeOf(desk.setEnabled("none", true, "x"))).toBe("SOP_UNKNOWN");
});

test("a broken one can be read and corrected; one whose files are no text says so", async () => {
  put("a/SOP.toml", "[sop\n");
  const { problems, form, revision } = await desk.read("a");
  expect([problems.length, form]).toEqual([1, null]);
  await desk.save("a", { toml: TOML, markdown: MD, revision }, "x");
  put("b/SOP.toml", "\0");
  writeFileSync(at("b/SOP.toml"), Buffer.from([0xff, 0xfe]));
  expect(await codeOf(desk.read("b"))).toBe("SOP_INVALID");
  expect(await codeOf(desk.read("../a"))).toBe("SOP_UNKNOWN");
});

test("what is read through a link that leads out of the workspace is refused", async () => {
  const outside = join(home.path, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "SOP.toml"), TOML);
  mkdirSync(join(home.path, "workspace", "sops"));
  symlinkSync(outside, at("a"));
  expect(await codeOf(desk.read("a"))).toBe("SOP_INVALID");
});

test("a secret of the config is neither shown nor lost", async () => {
  secret = "hunter2-hunter2";
  put("a/SOP.toml", TOML.replace('"d"', `"${secret}"`));
  put("a/SOP.md", MD);
  const read = await desk.read("a");
  expect(JSON.stringify(read)).not.toContain(secret);
  expect(read.unwritable).toContain("secret");
  expect(await codeOf(desk.save("a", { ...read, revision: read.revision }, "x"))).toBe("SOP_UNWRITABLE");
  expect(await codeOf(desk.setEnabled("a", false, "x"))).toBe("SOP_UNWRITABLE");
  expect(await codeOf(desk.duplicate("a", "b", "x"))).toBe("SOP_UNWRITABLE");
  expect(readFileSync(at("a/SOP.toml"), "utf8")).toContain(secret);
});

test("when the second file can't be written, the first is put back", async () => {
  put("a/SOP.toml", TOML);
  put("a/SOP.md", MD);
  const { revision } = await desk.read("a");
  const failing = new SopDesk({
    folder: () => join(home.path, "workspace", "sops"),
    rules: () => ({ defaultMode: "supervised", reserved: [] }),
    known: () => ({ nowMs: 0 }),
    workspace: async (root) => {
      const workspace = plainWorkspace(root);
      return {
        ...workspace,
        write: async (path, content, mode) => {
          if (path.endsWith("SOP.toml")) throw new SvcError("TOOL_FAILED", "the disk is full");
          await workspace.write(path, content, mode);
        },
      };
    },
    library: { reload: async () => {} },
    audit: async () => {},
    redact: (text) => text,
  });
  const change = { toml: `${TOML}# more\n`, markdown: `${MD}2. **More**\n`, revision };
  expect(await codeOf(failing.save("a", change, "x"))).toBe("SOP_UNWRITABLE");
  expect([readFileSync(at("a/SOP.toml"), "utf8"), readFileSync(at("a/SOP.md"), "utf8")]).toEqual([TOML, MD]);
  expect(readdirSync(at("a")).toSorted()).toEqual(["SOP.md", "SOP.toml"]);
});

test("the template is right", () => {
  expect(templateOf("x").toml).toContain("enabled = false");
});
