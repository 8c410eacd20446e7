// A mistake that `svc sop validate` keeps to itself.
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkSops, type CheckOptions } from "../src/library/check.ts";
import { at, config, home, libraryForEachTest, write } from "./library-fixture.ts";

libraryForEachTest();

const options: CheckOptions = { defaultMode: "supervised", reserved: [], known: { nowMs: 0 } };

test("all procedures are told, with all their problems and warnings", async () => {
  write("good");
  write("bad", { toml: '[sop]\nname = "x"\npriority = "y"\n', md: "## Steps\n" });
  write("Worse");
  expect(await checkSops(config.folder, options)).toMatchObject([
    { name: "Worse", problems: [{ file: at("Worse"), message: expect.stringContaining("named") }] },
    {
      name: "bad",
      problems: [
        { file: at("bad/SOP.toml"), line: 2, key: "sop.name" },
        { line: 3, key: "sop.priority" },
        { file: at("bad/SOP.md"), message: expect.stringContaining("no step") },
      ],
    },
    { name: "good", problems: [], warnings: [], definition: { name: "good" } },
  ]);
  expect(await checkSops(join(home.path, "none"), options)).toEqual([]);
});
