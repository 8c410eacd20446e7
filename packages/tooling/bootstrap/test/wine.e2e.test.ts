// setup.bat under wine 10 with the real Windows node.exe: cmd's own parsing of %*, %~dp0 and errorlevels, which no reading
// of the file can show, and a whole build and install on Windows. Where wine/prepare.sh and wine/prepare-store.sh were not run,
// this is a counted skip.
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingWine, openWine, type Wine, windowsNode } from "@svc/testkit/real/wine";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { root } from "../checkout.mjs";

const STORE = join(root, "node_modules/.cache/svc/wine-store");

test("setup.bat has the line ends that cmd.exe needs", () => {
  const text = readFileSync(join(root, "setup.bat"), "utf8");
  expect(
    text
      .split("\n")
      .slice(0, -1)
      .every((line) => line.endsWith("\r")),
  ).toBe(true);
});

describe("setup.bat under wine", () => {
  const part = missingWine();
  const hasStore = isPrepared();
  let wine: Wine;

  beforeAll(async () => {
    if (part !== undefined) return;
    const folders = { checkout: root, node: join(windowsNode(), "bin") };
    wine = await openWine(folders, hasStore ? { store: STORE } : {});
  });
  afterAll(() => wine?.[Symbol.asyncDispose]());
  beforeEach((context) => {
    if (part !== undefined) requireReal(context, part);
  });

  const bat = async (args: string, node = String.raw`Z:\win\node`) => {
    const { code, output } = await wine.run(String.raw`Z:\win\checkout\setup.bat ${args}`, { WINEPATH: node });
    return { status: code, lines: output.split(/\r?\n/u).map((line) => line.trim()) };
  };

  test("--dry-run prints the plan of a Windows machine", async () => {
    const { status, lines } = await bat("--standard --dry-run");
    expect(status).toBe(0);
    expect(lines).toContain("2. build     pnpm build standard  ->  dist/standard/svc.exe");
    expect(lines.join("\n")).not.toContain("libatomic");
  });

  test("a prefix with a drive, and lists with commas, arrive whole", async () => {
    const { status, lines } = await bat(String.raw`--full --with tool-files,tool-shell --prefix C:\tools --dry-run`);
    expect(status).toBe(0);
    expect(lines.join("\n")).toContain("pnpm build full --with tool-files,tool-shell");
    expect(lines.join("\n")).toContain(String.raw`C:\tools\bin\svc.exe`);
  });

  test("wrong flags: 64 and what was meant", async () => {
    const { status, lines } = await bat("--ful");
    expect(status).toBe(64);
    expect(lines[0]).toBe('Unknown argument "--ful". Did you mean --full?');
  });

  test("without node.exe: 69 and how to get it", async () => {
    const { status, lines } = await bat("--dry-run", String.raw`Z:\nowhere`);
    expect(status).toBe(69);
    expect(lines[0]).toContain("Node 20 or newer is needed");
  });

  test("builds and installs a binary that runs", { timeout: 240_000 }, async (context) => {
    if (!hasStore) {
      const reason = "packages/tooling/bootstrap/wine/prepare-store.sh gets them (600 MB)";
      requireReal(context, { name: "the packages for Windows", reason, tier: "B" });
    }
    copySources();
    const env = {
      WINEPATH: String.raw`Z:\win\node`,
      NODE_OPTIONS: "--import=file:///Z:/win/store/links.mjs",
      npm_config_registry: "http://127.0.0.1:9/",
    };
    const stamped = await wine.run(String.raw`node Z:\win\store\stamp.mjs`, env);
    expect(stamped).toEqual({ code: 0, output: "" });

    // A profile that is added to has no budget: what wine shows twice is bundled twice.
    const line = String.raw`Z:\win\store\setup.bat --minimal --with rag-pdf --prefix C:\tools`;
    const { code, output } = await wine.run(line, env);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/^packages: up to date\r?\n/u) });
    expect(output).toContain(String.raw`binary: dist\custom\svc.exe`);
    expect(output).toContain(String.raw`installed: C:\tools\bin\svc.exe`);
    expect(output).not.toMatch(/warning/iu);
    const svc = String.raw`C:\tools\bin\svc.exe`;
    expect(await wine.run(`${svc} --version`)).toMatchObject({ code: 0, output: expect.stringMatching(/^svc \d/u) });
    const record = JSON.parse(readFileSync(join(STORE, "dist/custom/build.json"), "utf8")) as object;
    expect(record).toMatchObject({ target: "win-x64", with: ["rag-pdf"], signature: null });
    expect(existsSync(join(wine.driveC, "tools/bin/svc.exe"))).toBe(true);
    rmSync(join(STORE, "dist"), { recursive: true });
  });
});

function isPrepared(): boolean {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "pnpm-lock.yaml")))
    .digest("hex");
  return existsSync(join(STORE, ".ready")) && readFileSync(join(STORE, ".ready"), "utf8").trim() === lock;
}

/** The checkout as it is now, and what wine lacks: Windows has junctions, which Node resolves. */
function copySources(): void {
  const listed = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const name of listed.stdout.toString().split("\0")) {
    if (name === "" || name === "pnpm-workspace.yaml" || !existsSync(join(root, name))) continue;
    cpSync(join(root, name), join(STORE, name));
  }
  // Rolldown does not find packages under wine: the page is the one that is built here.
  const built = spawnSync(process.execPath, [join(root, "packages/tooling/compose/src/cli.ts"), "minimal"]);
  if (built.status !== 0) throw new Error(built.stderr.toString());
  cpSync(join(root, "apps/dashboard/dist"), join(STORE, "apps/dashboard/dist"), { recursive: true });
  writeFileSync(
    join(STORE, "stamp.mjs"),
    `import { root } from "./packages/tooling/bootstrap/checkout.mjs";
import { writeStamp } from "./packages/tooling/bootstrap/stamp.mjs";
writeStamp(root);
`,
  );
  writeFileSync(
    join(STORE, "links.mjs"),
    `import { realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    if (!found.url.startsWith("file:")) return found;
    const { search } = new URL(found.url);
    const real = pathToFileURL(realpathSync.native(fileURLToPath(found.url)));
    return { ...found, url: real.href + search };
  },
});
`,
  );
}
