// The table of aims: a row for each, in one order, and what was missed is marked.
import { describe, expect, it } from "vitest";
import { type AimId, AIMS, aimsTable } from "../src/aims.ts";

const ids = Object.keys(AIMS) as AimId[];
const exactly = (): [AimId, number[]][] => ids.map((id) => [id, [AIMS[id].aim]]);
const rowOf = (table: string, id: AimId): string =>
  table.split("\n").find((row) => row.startsWith(`| ${AIMS[id].name} |`))!;

describe("the table of aims", () => {
  it("has each aim, met where it is just reached", () => {
    const rows = aimsTable(new Map(exactly().toReversed())).split("\n").slice(2);
    expect(rows.map((row) => row.split(" | ")[0])).toEqual(ids.map((id) => `| ${AIMS[id].name}`));
    expect(rows.every((row) => row.endsWith("| yes |"))).toBe(true);
  });

  it("marks a value above one that is the most, and below one that is the least", () => {
    const table = aimsTable(new Map([...exactly(), ["turn-cpu", [0.81]], ["refused", [1.19]]]));
    expect(rowOf(table, "turn-cpu")).toContain("| 0.81 × | ≤ 0.8 × | **no** |");
    expect(rowOf(table, "refused")).toContain("| 1.19 × | ≥ 1.2 × | **no** |");
    expect(table.match(/\*\*no\*\*/g)).toHaveLength(2);
  });

  it("judges the median of the rounds", () => {
    const table = aimsTable(new Map([...exactly(), ["start", [2.9, 9, 2.8]]]));
    expect(rowOf(table, "start")).toContain("| 2.90 × | ≤ 3 × | yes |");
  });

  it("can't be made without one of them", () => {
    expect(() => aimsTable(new Map(exactly().slice(1)))).toThrow("These aims were not measured: turn-cpu.");
  });
});
