// Whoever changes what was written down must be found out, whatever it is that he changes; and a backup of a run that waits
// must go on waiting, and go on once.
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { type AuditLine, manual, type ProceduresFixture, startProcedures, steps } from "./procedures-fixture.ts";

interface Verdict {
  readonly ok: boolean;
  readonly entries: number;
  readonly broken_at: number | null;
}

/** What he does, and the first line that does not fit then, of `last` lines. */
const FORGERIES: readonly (readonly [sql: string, brokenAt: (last: number) => number])[] = [
  [
    `UPDATE audit SET data = replace(data, '"rejected"', '"approved"') WHERE kind = 'approval-answer'`,
    (last) => last - 2,
  ],
  ["UPDATE audit SET at = at + 1 WHERE n = 2", () => 2],
  ["DELETE FROM audit WHERE n = 4", () => 4],
  ["DELETE FROM audit WHERE n = (SELECT max(n) FROM audit)", (last) => last],
  ["DELETE FROM audit", () => 1],
  ["DELETE FROM meta WHERE key = 'audit.head'", () => 1],
  ["INSERT INTO audit SELECT n + 1, at, kind, data, hash FROM audit ORDER BY n DESC LIMIT 1", (last) => last + 1],
  ["UPDATE audit SET n = CASE n WHEN 2 THEN -3 WHEN 3 THEN -2 ELSE n END; UPDATE audit SET n = abs(n)", () => 2],
];

/** The database of a fixture that does not run, with something done to it by somebody else; put right again afterwards. */
async function forged(fixture: ProceduresFixture, sql: string): Promise<{ verdict: Verdict; code: number | null }> {
  const file = join(fixture.home, "state", "svc.db");
  copyFileSync(file, `${file}.kept`);
  using db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
  const told = await fixture.chat.svc("audit", "verify", "--json");
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true });
  copyFileSync(`${file}.kept`, file);
  return { verdict: JSON.parse(told.stdout) as Verdict, code: told.code };
}

test("a backup of a run that waits, put back with what waited, goes on waiting, and goes on once; every change of the audit log is found", async () => {
  await using fixture = await startProcedures();
  const md = steps("Look.", "Say so.");
  await fixture.write({ gated: { toml: manual('execution_mode = "supervised"\nmax_concurrent = 5'), md } });
  const [kept, other] = [await fixture.run("gated"), await fixture.run("gated")];
  for (const id of [kept, other]) await fixture.becomes(id, "waiting_approval");
  await fixture.delivered();
  const backup = join(fixture.home, "..", `${kept}.tar.gz`);
  expect((await fixture.chat.svc("backup", backup)).code).toBe(0);
  await fixture.answer(kept, "step-1", true);
  await fixture.becomes(kept, "completed");
  await fixture.answer(other, "step-1", false, "no");
  await fixture.becomes(other, "cancelled");
  await fixture.chat.daemon.stop();

  const { entries: last } = await fixture.chat.json<Verdict>("audit", "verify");
  const found: unknown[] = [];
  for (const [sql] of FORGERIES) found.push([sql, await forged(fixture, sql)]);
  expect(found).toEqual(
    FORGERIES.map(([sql, brokenAt]) => [
      sql,
      { code: 65, verdict: { ok: false, entries: expect.any(Number), broken_at: brokenAt(last) } },
    ]),
  );
  expect(await fixture.chat.json("audit", "verify")).toEqual({ ok: true, entries: last, broken_at: null });

  expect((await fixture.chat.svc("restore", backup, "--yes", "--with-waiting")).code).toBe(0);
  rmSync(backup);
  await fixture.begin();
  expect((await fixture.show(kept)).status).toBe("waiting_approval");
  const sent = fixture.chat.platform.sent.length;
  const asked = fixture.model.requests.length;
  expect((await fixture.answer(kept, "step-1", true)).status).toBe(200);
  expect((await fixture.answer(kept, "step-1", true)).status).toBe(409);
  await fixture.becomes(kept, "completed");
  expect(fixture.model.requests.length - asked).toBe(2);
  await fixture.delivered();
  // Nobody is asked anew: who was asked is told how it ended.
  const news = fixture.chat.platform.sent.slice(sent);
  expect(news.map(({ replies, text }) => [replies.length, text.includes("approved by device")])).toEqual([[0, true]]);
  const ends = (await fixture.audit()).filter(({ kind }: AuditLine) => kind === "sop-run-end");
  expect(ends.map(({ data }) => data.run_id)).toEqual([kept]);
  expect(await fixture.chat.json("audit", "verify")).toMatchObject({ ok: true });
});
