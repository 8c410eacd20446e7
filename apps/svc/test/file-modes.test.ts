// What the service writes is its owner's alone, whatever umask it was started with: the key, what people wrote, and the socket by
// which everything can be done.
import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { homeWith } from "./daemon.ts";

/** Of the home and all in it: what somebody else can open, with the bits that let him. */
function openToOthers(home: string): string[] {
  const paths = readdirSync(home, { withFileTypes: true, recursive: true }).map(({ parentPath, name }) =>
    join(parentPath, name),
  );
  return [home, ...paths].flatMap((path) => {
    const bits = lstatSync(path).mode & 0o077;
    return bits === 0 ? [] : [`${relative(home, path)} ${bits.toString(8)}`];
  });
}

test("home, database, log, key and control socket are their owner's alone", async (context) => {
  context.skip(process.platform === "win32", "Windows has no modes of files");
  using home = homeWith("");
  const before = process.umask(0);
  try {
    await using daemon = await startBinary({ home: home.path });
    const token = await daemon.pair();
    const sent = await daemon.request("/webhook", { token, body: { message: "say it" } });
    expect(sent.status).toBe(200);
    const set = await runBinary(["secrets", "set", "model.api_key"], { home: home.path, input: "planted-key" });
    expect(set.code).toBe(0);
    const socket = lstatSync(join(home.path, "run/control.sock"));
    expect([socket.isSocket(), (socket.mode & 0o777).toString(8)]).toEqual([true, "600"]);
    expect(openToOthers(home.path)).toEqual([]);
  } finally {
    process.umask(before);
  }
});
