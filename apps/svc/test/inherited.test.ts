// A service manager, a shell or a container's engine may leave files open and core files allowed in what it starts. The service
// keeps neither: a descriptor would go into every command, and a core file is its memory, with every secret in it, on the disk.
import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

const binary = fullestBinaryPath();
const isLinux = process.platform === "linux";

/** The binary as a careless parent starts it: files, a folder and a file to write open at these numbers, core files allowed. */
function carelessly(folder: string): string {
  writeFileSync(join(folder, "canary"), "not-to-be-seen", { mode: 0o600 });
  const program = join(folder, "careless");
  const open = [3, 9, 20, 100]
    .map((fd) => `${fd}<'${folder}/canary'`)
    .concat(`999<'${folder}'`, `1000>>'${folder}/canary'`);
  writeFileSync(
    program,
    `#!/bin/bash\nulimit -n 2048; ulimit -S -c unlimited; exec ${open.join(" ")}\nexec '${binary}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  return program;
}

const OPEN = `
[security.policy]
autonomy = "full"
allowed_commands = ["*"]
`;

describe.skipIf(!isLinux)("what the daemon was started with", { meta: { skipReason: "needs Linux" } }, () => {
  test("no descriptor goes on to what it starts, and no core file is written when it crashes", async () => {
    using outside = temporaryHome();
    using home = homeWith(OPEN);
    await using daemon = await startBinary({ home: home.path, binary: carelessly(outside.path) });
    const proc = `/proc/${daemon.pid}`;
    const flags = (fd: string): number =>
      Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`${proc}/fdinfo/${fd}`, "utf8"))?.[1] ?? "0", 8);
    const left = readdirSync(`${proc}/fdinfo`).filter((fd) => Number(fd) > 2 && (flags(fd) & 0o2000000) === 0);
    expect(left.map((fd) => readlinkSync(`${proc}/fd/${fd}`))).toEqual([]);
    expect(readFileSync(`${proc}/limits`, "utf8")).toMatch(/^Max core file size +0 +0 /m);
    expect(await daemon.stop("SIGSEGV")).toMatchObject({ signal: "SIGSEGV" });
    expect(readdirSync(home.path).filter((name) => name.startsWith("core"))).toEqual([]);
  });

  test.for(["userns", "none"])("%s: svc tools run hands a command no more than three", async (backend, context) => {
    using outside = temporaryHome();
    using home = homeWith(`${OPEN}\n[security.sandbox]\nbackend = "${backend}"\n`);
    const { stdout: doctor } = await runBinary(["doctor", "--json"], { home: home.path, binary });
    if (backend !== "none" && !doctor.includes(`in the sandbox ${backend}`))
      requireReal(context, { name: backend, reason: "it confines nothing here" });
    // Bash of itself opens none; what is not open can't be duplicated.
    const command =
      'for n in $(seq 3 30) 100 999 1000; do (eval ": <&$n") 2>/dev/null && echo open $n; done; ulimit -S -c';
    const input = JSON.stringify({ command: `exec bash -c '${command}'` });
    const { stdout } = await runBinary(["tools", "run", "shell", "--json", "--input", input], {
      home: home.path,
      binary: carelessly(outside.path),
    });
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, output: { stdout: "0\n" } });
  });

  test("one that the command line names is read", async () => {
    using outside = temporaryHome();
    using home = temporaryHome();
    const key = join(outside.path, "canary");
    const program = carelessly(outside.path);
    const { stderr, code } = await runBinary(
      ["init", "--model", "openai", "--model-name", "m", "--api-key-file", "/dev/fd/100", "--yes"],
      { home: home.path, binary: program },
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(existsSync(join(home.path, "config.toml"))).toBe(true);
    expect(readFileSync(join(home.path, "config.toml"), "utf8")).not.toContain(readFileSync(key, "utf8"));
  });
});
