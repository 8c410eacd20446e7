// Commands of the real binary in each sandbox of this machine, chosen by the config: they work in the workspace and see neither
// $SVC_HOME nor the network; what is missing is said everywhere, and refused where it is required.
import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { requireReal } from "@svc/testkit/require-real";
import { expect, test, type TestContext } from "vitest";
import { homeWith, localModel, post } from "./daemon.ts";

const binary = fullestBinaryPath();

const OPEN = `
[security.policy]
autonomy = "full"
allowed_commands = ["*"]
`;
const sandbox = (backend: string, more = ""): string => `${OPEN}
[security.sandbox]
backend = "${backend}"
${more}
`;

interface ShellResult {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly notes?: readonly string[];
}

/** `svc tools run shell`, without a daemon. */
async function shell<Output = ShellResult>(home: string, command: string): Promise<{ ok: boolean; output: Output }> {
  const input = JSON.stringify({ command });
  const { stdout } = await runBinary(["tools", "run", "shell", "--json", "--input", input], { home, binary });
  return JSON.parse(stdout) as { ok: boolean; output: Output };
}

interface DoctorReport {
  readonly findings: readonly { readonly id: string; readonly level: string; readonly message: string }[];
}

async function doctorSays(home: string): Promise<string> {
  const { stdout } = await runBinary(["doctor", "--json"], { home, binary });
  const { findings } = JSON.parse(stdout) as DoctorReport;
  return findings.flatMap(({ id, message }) => (id === "sandbox" ? [message] : [])).join("\n");
}

/** Skips where this machine has no such sandbox. One that is there and does not confine is a failure. */
function demandSandbox(context: TestContext, backend: string, said: string): void {
  if (said.includes(`in the sandbox ${backend}`)) return;
  expect(said).not.toMatch(/a command could|another user than they should/);
  requireReal(context, { name: backend, reason: said });
}

const BACKENDS = ["userns", "jail", "fsrestrict"] as const;

test.for(BACKENDS)("%s confines what svc tools run, and what a turn does", async (backend, context) => {
  using home = homeWith(sandbox(backend));
  const said = await doctorSays(home.path);
  demandSandbox(context, backend, said);

  writeFileSync(join(home.path, "canary"), "not to be seen", { mode: 0o644 });
  let reached = 0;
  const server = createServer((socket) => {
    reached += 1;
    socket.on("error", () => undefined).destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const attack = `echo made > made; cat ../canary; cat ${home.path}/canary; ls ${home.path}; bash -c 'echo x > /dev/tcp/127.0.0.1/${port}'; id -u`;
  try {
    const run = await shell(home.path, attack);
    expect(run).toMatchObject({ output: { stdout: expect.any(String) } });
    const { output: lone } = run;
    expect(lone.stdout).not.toContain("not to be seen");
    expect(lone.stdout).not.toContain("config.toml");
    expect(reached).toBe(0);
    const made = statSync(join(home.path, "workspace", "made"));
    const user = process.getuid?.() === 0 ? 242_617 : process.getuid?.();
    expect([made.uid, lone.stdout.trim().split("\n").at(-1)]).toEqual([user, String(user)]);

    await using model = await fakeModelServer({
      script: ({ body }) => {
        const last = (body["messages"] as { role: string; content: unknown }[]).at(-1);
        return last?.role === "tool"
          ? { text: JSON.stringify(last.content) }
          : { calls: [{ name: "shell", input: { command: `${attack}; echo turn > turn` } }] };
      },
    });
    writeFileSync(join(home.path, "config.toml"), `${localModel(model)}\n${sandbox(backend)}`, { mode: 0o600 });
    await using daemon = await startBinary({ home: home.path, binary });
    expect(daemon.output()).toContain(`sandbox: ${backend}`);
    const token = await daemon.pair();
    const { body } = await post(daemon, token, "go");
    expect(body).toMatchObject({ response: expect.stringContaining("exit_code") });
    expect(body.response).not.toContain("not to be seen");
    expect(existsSync(join(home.path, "workspace", "turn"))).toBe(true);
    expect(reached).toBe(0);
    // A second look beside the daemon: each probe has names of its own.
    expect(await Promise.all([doctorSays(home.path), doctorSays(home.path)])).toEqual([
      expect.stringContaining(`in the sandbox ${backend}`),
      expect.stringContaining(`in the sandbox ${backend}`),
    ]);
  } finally {
    server.close();
  }
});

test("a limit that ends a command is told", async (context) => {
  using home = homeWith(sandbox("userns", "pids = 20"));
  const said = await doctorSays(home.path);
  demandSandbox(context, "userns", said);
  const { output } = await shell(home.path, "for i in $(seq 60); do sleep 5 & done; wait");
  expect(output.notes).toEqual([expect.stringContaining("security.sandbox.pids")]);
});

test("one that is missing is replaced by none with a warning: in the log, on /health, in status and doctor", async () => {
  using home = homeWith(sandbox("seatbelt"));
  await using daemon = await startBinary({ home: home.path, binary });
  expect(daemon.output()).toMatch(/sandbox seatbelt is not available/);
  const token = await daemon.pair();
  const health = (await (await daemon.request("/health", { token })).json()) as {
    status: string;
    units: { id: string; state: string; reason: string | null }[];
  };
  expect(health.units).toContainEqual({
    id: "sandbox",
    state: "stopped",
    reason: expect.stringContaining("sandbox seatbelt is not available"),
  });
  const status = (await (await daemon.request("/api/status", { token })).json()) as { sandbox: object };
  expect(status.sandbox).toEqual({
    effective: "none",
    confined: false,
    summary: expect.stringContaining("seatbelt"),
    fix: 'set security.sandbox.backend = "auto"',
    warning: expect.stringContaining("seatbelt"),
    reasons: [],
  });
  expect(await doctorSays(home.path)).toContain("sandbox seatbelt is not available");
});

test("one that is required and missing: commands are refused, and nothing runs", async () => {
  using home = homeWith(sandbox("seatbelt", "required = true"));
  const { ok, output } = await shell<unknown>(home.path, "touch ran");
  expect([ok, JSON.stringify(output)]).toEqual([false, expect.stringMatching(/sandbox seatbelt is not available/)]);
  expect(existsSync(join(home.path, "workspace", "ran"))).toBe(false);
});

test("a workspace in a folder that commands can write: they would choose what the next one is given", async (context) => {
  using shared = homeWith("");
  const workspace = join(shared.path, "deep", "work");
  mkdirSync(workspace, { recursive: true });
  if (process.getuid?.() === 0)
    for (const path of ["deep", "deep/work"]) chownSync(join(shared.path, path), 4321, 4321);
  const at = `[workspace]\npath = "${workspace}"\n`;
  using plain = homeWith(`${sandbox("userns")}\n${at}`);
  const usual = await doctorSays(plain.path);
  demandSandbox(context, "userns", usual);
  using home = homeWith(`${sandbox("userns", `required = true\nwritable = ["${shared.path}"]`)}\n${at}`);
  expect(await doctorSays(home.path)).toContain("could put a link in its place");
  const { ok } = await shell<unknown>(home.path, `cd .. && mv work work2 && ln -s ${home.path} work`);
  expect([ok, existsSync(join(shared.path, "deep", "work2"))]).toEqual([false, false]);
});

test("a workspace of root's elsewhere: none is used, and the chown is said", async (context) => {
  if (process.getuid?.() !== 0) context.skip("only root has workspaces of root's");
  using elsewhere = homeWith("");
  using home = homeWith(`${sandbox("auto")}\n[workspace]\npath = "${elsewhere.path}"\n`);
  expect(await doctorSays(home.path)).toContain(`chown -R 242617:242617 '${elsewhere.path}'`);
});
