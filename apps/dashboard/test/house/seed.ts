/** A day at a small company: enough of everything for a picture. */
import type { House } from "./house.ts";

const MESSAGES = [
  { name: "Robin", from: "+15551230001", text: "Are you open on Saturday?" },
  {
    name: "Kim",
    from: "+15551230002",
    text: "The invoice of last month has no address on it. Could you send it again?",
  },
  { name: "Sasha", from: "+15551230003", text: "Is the blue one back in stock?" },
] as const;

export async function seedActivity(house: House): Promise<void> {
  for (const [name, scope] of [
    ["Phone", "operator"],
    ["Doorbell", "webhook"],
    ["Wall display", "read"],
  ] as const) {
    await house.daemon.pair(await house.pairingCode("--name", name, "--scope", scope));
  }
  for (const message of MESSAGES) await house.write(message);
  await house.api("/api/sops/site-release/runs", { branch: "main" });
  await settled(house, "/api/approvals?status=waiting", 1);
  await answerFirst(house, true, "looks good");
  await settled(house, "/api/sop-runs?status=completed", 1);
  await house.api("/api/sops/site-release/runs", { branch: "release-1.4" });
  await house.ask("release-1.3", "production", "Release 1.3 to production?", "All 214 tests are green.");
  await house.api("/api/approvals/release-1.3/production", { approved: true, feedback: "after ten" });
  await house.ask("cleanup-9", "delete", "Delete backups older than a year?", "They take 41 GB.");
  await house.api("/api/approvals/cleanup-9/delete", { approved: false, feedback: "keep those of December" });
  await house.ask(
    "release-1.4",
    "production",
    "Release 1.4 to production?",
    "All 218 tests are green. It takes five minutes.",
  );
  house.platform.mood = { refuses: 400 };
  await house.write({ name: "Alex", from: "+15551230004", text: "Thanks, see you tomorrow!" });
  await settled(house, "/api/inbox?state=dead", 1);
  house.platform.mood = "takes";
  for (const body of [
    { message: "What is on today?", session: "morning" },
    { message: "Sum up the last three tickets in one sentence each.", session: "tickets" },
  ]) {
    const headers = { "X-Session-Id": body.session };
    await house.daemon.request("/webhook", { token: house.token, headers, body: { message: body.message } });
  }
}

async function answerFirst(house: House, approved: boolean, feedback: string): Promise<void> {
  const { approvals } = await house.api<{ approvals: { run_id: string; step_id: string }[] }>(
    "/api/approvals?status=waiting",
  );
  const [first] = approvals;
  if (first) await house.api(`/api/approvals/${first.run_id}/${first.step_id}`, { approved, feedback });
}

/** Waits until a list has as many; what happens in another process tells nobody here. */
async function settled(house: House, path: string, count: number): Promise<void> {
  for (let tries = 0; tries < 2_400; tries += 1) {
    const lists = Object.values(await house.api<Record<string, unknown>>(path));
    if (lists.some((list) => Array.isArray(list) && list.length >= count)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${path} never had ${count}`);
}
