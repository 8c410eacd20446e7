// The view of the hardware in a real browser: boards with their ports and last readings, and what an agent asked to do with them.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { startJsonBoard } from "@svc/testkit/platforms/json-board";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { launch, needChromium } from "./fixture/browser.ts";
import { signedIn } from "./fixture/person.ts";

beforeEach(needChromium);

test("shows a board, its last reading, and an approved call", async () => {
  await using board = await startJsonBoard();
  await using model = await fakeModelServer({
    script: [
      { calls: [{ name: "gpio_write", input: { pin: 13, value: 1 } }] },
      { text: "It is on." },
      { calls: [{ name: "gpio_read", input: { pin: 7 } }] },
      { text: "It does not answer." },
    ],
  });
  using home = temporaryHome();
  writeFileSync(
    join(home.path, "config.toml"),
    `[model]
provider = "openai-compatible"
name = "local"
base_url = "${model.url}"
api_key = "k"

[[peripherals.boards]]
board = "arduino-uno"
transport = "bridge"
path = "${board.path}"
`,
    { mode: 0o600 },
  );
  const binary = fullestBinaryPath();
  await using daemon = await startBinary({ home: home.path, binary });
  const token = await daemon.pair();
  const answered = daemon.request("/webhook", { token, body: { message: "switch it on" } });
  const asked = async (): Promise<readonly { n: number }[]> =>
    ((await (await daemon.request("/api/approvals", { token })).json()) as { approvals: { n: number }[] }).approvals;
  while ((await asked()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const { stderr } = await runBinary(["approvals", "approve", String((await asked())[0]!.n)], {
    home: home.path,
    binary,
  });
  expect(stderr).toBe("");
  expect((await answered).status).toBe(200);
  board.analog.set(14, 523);
  const input = ["--input", '{"pin":14,"analog":true}'];
  expect((await runBinary(["tools", "run", "gpio_read", ...input], { home: home.path, binary })).stdout).toContain(
    "GPIO 14 reads 523 on arduino0",
  );
  const browser = await launch();
  try {
    await using person = await signedIn(browser, { url: daemon.url, token, pairingCode: () => daemon.pair() });
    await person.go("hardware", "Hardware");
    const boards = person.page.getByRole("table", { name: "Boards" });
    await boards.getByText("GPIO 13 HIGH, written").waitFor();
    await boards.getByText("GPIO 14 523, read").waitFor();
    const row = (await boards.innerText()).replaceAll(/\s+/g, " ");
    expect(row).toContain("arduino0");
    expect(row).toContain(board.path);
    expect(row).toContain("JSON lines");
    const calls = person.page.getByRole("table", { name: "Calls", exact: true });
    await calls.getByText("gpio_write", { exact: true }).waitFor();
    expect(await calls.innerText()).toContain("approved");
    // The next one runs for as long as the board is silent, and fails then.
    board.mood = "silent";
    const turn = daemon.request("/webhook", { token, body: { message: "read it" } });
    const recent = person.page.getByRole("table", { name: "Recent calls" });
    await recent.getByText("running", { exact: true }).waitFor();
    expect((await turn).status).toBe(200);
    await recent.getByText("BOARD_TIMEOUT").waitFor();
    expect((await recent.getByRole("row").nth(1).innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /arduino0 gpio_read GPIO 7 failed BOARD_TIMEOUT/,
    );
    expect((await recent.getByRole("row").nth(3).innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /arduino0 gpio_write GPIO 13 HIGH done/,
    );
    person.expectCalm();
  } finally {
    await browser.close();
  }
});
