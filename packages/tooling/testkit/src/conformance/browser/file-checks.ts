/** Files: what a page offers lands in the workspace under a name of ours, and what it is given comes from there. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { demand } from "../../check.ts";
import { browserFixture, filesBelow, textOf } from "./fixture.ts";
import type { BrowserBench, BrowserCheck } from "./subject.ts";

export const fileChecks = (bench: BrowserBench): BrowserCheck[] => [
  {
    name: "screenshot and pdf are files of the workspace",
    needs: ["screenshot", "pdf"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/") });
      for (const [input, magic] of [
        [{ action: "screenshot" }, "PNG"],
        [{ action: "screenshot", full_page: true }, "PNG"],
        [{ action: "pdf" }, "%PDF"],
      ] as const) {
        const { file } = await fixture.call(input);
        demand(file !== undefined && file.bytes > 500, `${input.action} made no file`);
        demand(textOf(fixture, file.path).slice(0, 10).includes(magic), `${input.action} made something else`);
      }
      demand((await filesBelow(fixture.workspace)).length === 3, "one file took the place of another");
    },
  },
  {
    name: "a download has a name of ours, whatever path the page gives it",
    needs: ["download"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/files") });
      for (const name of ["Traversal", "Encoded", "Plain"]) {
        const { file } = await fixture.call({ action: "download", target: await fixture.ref("link", name) });
        demand(file !== undefined, `${name} made no file`);
        demand(/^browser\/[A-Za-z0-9][A-Za-z0-9 ._-]*$/.test(file.path), `the path is ${file.path}`);
        demand(!file.path.includes(".."), `the path is ${file.path}`);
        demand(existsSync(join(fixture.workspace, file.path)), "the file is not there");
      }
      demand(
        (await filesBelow(fixture.workspace)).every((path) => path.startsWith("browser/")),
        "a file is elsewhere",
      );
      demand(!existsSync("/tmp/escaped.sh"), "a file got out of the workspace");
    },
  },
  {
    name: "a download that does not end is stopped, and nothing of it stays",
    needs: ["download"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/files") });
      const error = await fixture.refusal({ action: "download", target: await fixture.ref("link", "Bottomless") });
      demand(error.code === "TOO_LARGE", `it ended with ${error.code}: ${error.message}`);
      demand((await filesBelow(fixture.workspace)).length === 0, "something of it is in the workspace");
    },
  },
  {
    name: "a file that nobody asked for is not kept",
    needs: ["get_text"],
    async run() {
      await using fixture = await browserFixture(bench);
      await fixture.call({ action: "open", url: fixture.sites.url("/drive-by") });
      await fixture.sites.untilAsked("GET /plain.bin");
      await fixture.call({ action: "wait", seconds: 0.5 });
      demand((await filesBelow(fixture.workspace)).length === 0, "a file came into the workspace by itself");
    },
  },
  {
    name: "upload hands over files of the workspace, and no others",
    needs: ["upload"],
    async run() {
      await using fixture = await browserFixture(bench);
      await writeFile(join(fixture.workspace, "letter.txt"), "from the workspace");
      await writeFile(join(fixture.home, "outside.txt"), "not from the workspace");
      await fixture.call({ action: "open", url: fixture.sites.url("/form") });
      await fixture.call({ action: "upload", target: "#file", paths: ["letter.txt"] });
      await fixture.call({ action: "wait", text: "letter.txt: from the workspace" });
      const error = await fixture.refusal({ action: "upload", target: "#file", paths: ["../outside.txt"] });
      demand(error.code === "PATH_OUTSIDE_WORKSPACE", `a file from outside is ${error.code}`);
      const { content = "" } = await fixture.call({ action: "get_text", target: "#said" });
      demand(!content.includes("not from the workspace"), "the page has read it");
    },
  },
];
