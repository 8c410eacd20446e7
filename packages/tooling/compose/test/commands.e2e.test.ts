// `pnpm build` and `pnpm dev` as a person runs them: exit codes, JSON, and sources that start again when a feature from
// outside, which has no contract and no valibot of its own, or a profile changes.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

const STRANGER = `import { shared } from "@svc/contract";
import * as v from "valibot";
export const create = () => ({ says: \`\${shared.of} \${v.parse(v.string(), "TEXT")}\` });
`;

describe("commands", () => {
  let small: Workspace;
  let src: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(() => {
    small = makeWorkspace('[later]\nkind = "tool"\nsummary = "Later"\n');
    small.profile("minimal", 'summary = ""\nfeatures = ["tool-a"]\nplanned = ["later"]');
    small.feature("tool-a");
    small.feature("tool-b");
    small.stranger("strangers/foo", "foo");
    src = small.composer();
    // npm and pnpm say there where they were called; paths in --with start there.
    env = { ...process.env, INIT_CWD: small.root };
  });

  afterAll(() => small[Symbol.dispose]());

  describe("build", () => {
    const run = (...argv: string[]) =>
      spawnSync(process.execPath, [join(src, "cli.ts"), ...argv], { encoding: "utf8", cwd: small.root, env });

    test("--help has examples", () => {
      expect(run("--help")).toMatchObject({ status: 0, stdout: expect.stringContaining("Examples\n  pnpm build ") });
    });

    test.each([
      [["maximal"], 64, 'no profile "maximal"'],
      [["--wiht", "a"], 64, "Unknown option '--wiht'"],
      [["--with", "later"], 78, "FEATURE_PLANNED"],
      [["--without", "tool-b"], 64, '"tool-b" is not in minimal'],
    ])("%j exits %i", (argv, status, sentence) => {
      const { stderr, stdout, ...rest } = run(...argv);
      expect(rest.status).toBe(status);
      expect(stderr).toContain(sentence);
      expect(stderr).toContain("\n→ ");
      expect(stderr).not.toMatch(/\n\s+at /);
      expect(stdout).toBe("");
    });

    test("--json tells an error as data", () => {
      const { status, stdout } = run("--json", "maximal");
      expect(status).toBe(64);
      expect(JSON.parse(stdout)).toMatchObject({ code: "USAGE", hint: "Profiles: minimal." });
    });

    test("a manifest that breaks the schema exits 65", () => {
      small.stranger("strangers/bad", "bad", { svc: { kind: "spoon" } });
      const { status, stderr } = run("--with", "./strangers/bad");
      expect(status).toBe(65);
      expect(stderr).toContain("svc.kind: must be");
    });
  });

  describe("dev", () => {
    let child: ChildProcess | undefined;
    let output = "";

    /** Resolves when the command has printed `text`, after what it printed before. */
    const prints = async (text: string): Promise<void> => {
      while (!output.includes(text)) await once(child?.stdout as NodeJS.ReadableStream, "data");
      output = output.slice(output.indexOf(text) + text.length);
    };

    afterAll(() => child?.kill("SIGKILL"));

    test("runs the sources, again after each change, until it is told to end", async () => {
      small.write("strangers/foo/src/work.js", STRANGER);
      const args = [join(src, "dev.ts"), "--with", "./strangers/foo", "--", "anything"];
      child = spawn(process.execPath, args, { cwd: small.root, env, stdio: ["ignore", "pipe", "inherit"] });
      child.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
      await prints('"said":[["foo","contract TEXT"],["tool-a","tool-a here"]]');
      // Node begins to watch a file some time after it has run it, and misses a change before that.
      const change = (): void => small.write("strangers/foo/src/work.js", STRANGER.replace("TEXT", "changed"));
      change();
      const again = setInterval(change, 5_000);
      await prints('["foo","contract changed"]').finally(() => clearInterval(again));
      small.profile("minimal", 'summary = ""\nfeatures = ["tool-b"]\nplanned = ["later"]');
      await prints('["tool-b","tool-b here"]');
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    });
  });
});
