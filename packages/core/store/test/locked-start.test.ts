// A backup program that holds the lock for a minute must not keep the service from starting.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fakeClock } from "@svc/testkit/fake-clock";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { addStepFunctions, STEPS } from "../src/engine/migrations.ts";
import { Recovery } from "../src/engine/recovery.ts";

test("what the last process left is judged when the lock is free, and nothing is written before", () => {
  using home = temporaryHome();
  const file = join(home.path, "db");
  using other = new DatabaseSync(file);
  addStepFunctions(other);
  for (const step of STEPS) other.exec(step);
  other.exec("INSERT INTO idempotency (scope, key, expires_at, turn_id, state) VALUES ('s', 'k', 1, 't', 'running')");
  other.exec("BEGIN IMMEDIATE");
  using db = new DatabaseSync(file, { timeout: 1 });
  const recovery = new Recovery(db, fakeClock());
  expect(() => recovery.ensure()).toThrow("locked");
  other.exec("ROLLBACK");
  recovery.ensure();
  expect(db.prepare("SELECT count(*) AS n FROM idempotency").get()).toEqual({ n: 0 });
});
