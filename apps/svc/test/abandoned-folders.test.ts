// What a killed daemon left in the folder for temporary files is gone after the next start; what another user put there under such
// a name stays.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";

test("a start removes the temporary folders of processes that were killed, and follows no link", async (context) => {
  context.skip(process.platform !== "linux", "looks into /proc");
  using room = temporaryHome();
  const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))![0];
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const left = join(room.path, `svc-session-${namespace}-${pid}-1-AbC123`);
  const precious = join(room.path, "precious");
  for (const path of [left, precious]) mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(precious, "file"), "mine");
  symlinkSync(precious, join(left, "link"));
  const link = join(room.path, `svc-trial-${namespace}-${pid}-1-AbC123`);
  symlinkSync(precious, link);

  await using daemon = await startBinary({ env: { TMPDIR: room.path } });
  await daemon.waitFor(/removed temporary folders of ended processes/);
  expect(
    await eventually(
      () => existsSync(left),
      (isThere) => !isThere,
    ),
  ).toBe(false);
  expect([existsSync(link), existsSync(join(precious, "file"))]).toEqual([true, true]);
});
