// The arguments of `npm run bench`: a mistyped one must not start half an hour of measuring something else.
import { describe, expect, it } from "vitest";
import { BenchUsageError, HELP, readBenchArguments } from "../src/arguments.ts";
import { BENCHES } from "../src/benches.ts";

describe("readBenchArguments", () => {
  it("runs every bench without arguments", () => {
    expect(readBenchArguments([])).toMatchObject({ help: false, write: false, guard: undefined });
    expect(readBenchArguments([]).only).toEqual([...BENCHES.keys()]);
  });

  it("measures all parts with --guard, in 12 rounds and 7 minutes", () => {
    const parts = new Set(["turns", "ingest", "start", "version"]);
    expect(readBenchArguments(["--guard"]).guard).toEqual({
      binary: undefined,
      against: undefined,
      parts,
      rounds: 12,
      minutes: 7,
    });
  });

  it("takes --against and --binary for the guard", () => {
    expect(readBenchArguments(["--against", "self"]).guard?.against).toBe("self");
    expect(readBenchArguments(["--binary", "a/svc"]).guard?.binary).toBe("a/svc");
  });

  it.each([
    ["--only", "speed"],
    ["--guard", "--only", "startup"],
    ["--only", "turns"],
    ["--guard", "--rounds", "4"],
    ["--seconds", "many"],
    ["--rounds", "0"],
    ["--fast"],
    ["startup"],
  ])("refuses %s %s %s", (...argv) => {
    expect(() => readBenchArguments(argv.filter((word) => word !== undefined))).toThrow(BenchUsageError);
  });

  it("has a help that names each bench", () => {
    for (const name of BENCHES.keys()) expect(HELP).toContain(name);
  });
});
