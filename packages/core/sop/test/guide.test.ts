// The example of the guide is what most procedures begin as: one that does not load, or loads with another meaning than the page
// says, is in every workspace.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { checkSops } from "../src/library/check.ts";
import { conditionHolds } from "../src/triggers/match.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/guide/procedures.md"), "utf8");

test("every procedure that the page writes loads, without a warning", async () => {
  using home = temporaryHome();
  for (const [, file = "", text = ""] of page.matchAll(/^cat > ~\/\.svc\/(\S+) <<'EOF'\n([^]*?)^EOF$/gm)) {
    mkdirSync(dirname(join(home.path, file)), { recursive: true });
    writeFileSync(join(home.path, file), text);
  }
  const checked = await checkSops(join(home.path, "workspace/sops"), {
    defaultMode: "supervised",
    reserved: ["/health"],
    known: { nowMs: 0, agents: ["default"], tools: ["file_read", "file_write", "http_get", "shell"] },
  });
  expect(checked.flatMap(({ problems, warnings }) => [...problems, ...warnings])).toEqual([]);
  expect(checked.map(({ name, definition }) => [name, definition?.mode, definition?.steps.length])).toEqual([
    ["note", "deterministic", 1],
    ["restart-web", "supervised", 3],
  ]);
  expect(checked[1]?.definition).toMatchObject({
    instructions: expect.stringContaining("Never touch its database"),
    steps: [
      { title: "Look", tools: ["file_read"], requiresConfirmation: false },
      { title: "Decide", kind: "checkpoint" },
      { title: "Restart", tools: ["shell", "http_get"], requiresConfirmation: true },
    ],
  });
});

test("every condition of its table is met as it says", () => {
  const rows = [...page.matchAll(/^\| `([^`]+)` +\| `([^`]+)` +\| (yes|no) +\|$/gm)];
  expect(rows.map(([, condition, payload]) => (conditionHolds(condition, payload!) ? "yes" : "no"))).toEqual(
    rows.map(([, , , answer]) => answer),
  );
  expect(rows.length).toBeGreaterThan(4);
});
