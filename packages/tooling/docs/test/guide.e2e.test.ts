// The guide promises that its commands work. Here one reader types all of them, page after page, into a shell of their own: a
// copy of this checkout, an empty home, a free port. A command that was renamed, or that never worked, fails with its line.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { GUIDE } from "../src/site/guide.ts";
import { type Block, readBlocks } from "./guide/blocks.ts";
import { copyCheckout, ROOT } from "./guide/checkout.ts";
import { CONFIG_FILES, isInstalled } from "./guide/config-files.ts";
import { freePort } from "./guide/free-port.ts";
import { newReader, type Reader } from "./guide/reader.ts";
import { SCRIPT } from "./guide/shell.ts";

const pages = GUIDE.map(({ page, title }) => {
  const file = `docs/guide/${page}.md`;
  return { title, steps: readBlocks(file, readFileSync(join(ROOT, file), "utf8")) };
});
const steps = pages.flatMap(({ steps }) => steps);
const blocks = steps.filter((step) => step.kind === "block");

let folder = "";
let model: FakeModelServer;
let reader: Reader;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-guide-")));
  const checkout = join(folder, "svc");
  await copyCheckout(checkout);
  model = await fakeModelServer({ script: () => ({ text: "I have a pen.", inputTokens: 12, outputTokens: 5 }) });
  const port = String(await freePort());
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((dir) => !dir.includes("node_modules"));
  reader = newReader({
    folder,
    checkout,
    // Ollama's port has a model behind it here.
    samples: { 42617: port, 11434: new URL(model.url).port },
    belongings: { "report.pdf": join(ROOT, "packages/features/rag-pdf/test/fixtures/pdflatex-long.pdf") },
    env: {
      ...registrySettings(),
      // What a page installs for the machine is this reader's alone.
      npm_config_prefix: join(folder, "npm"),
      PATH: path.join(delimiter),
      SVC__GATEWAY__PORT: port,
    },
  });
});

afterAll(async () => {
  await reader?.close();
  await model?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

test("every block is of a kind that is run, checked or only shown", () => {
  const kinds = new Set(["sh", "text", ...Object.keys(CONFIG_FILES)]);
  expect(blocks.filter(({ language }) => !kinds.has(language)).map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

describe("the reader types", () => {
  test.for(pages)("$title", async ({ steps }, context) => {
    const toRun = steps.filter((step) => step.kind === "ctrl-c" || isRun(step));
    if (toRun.some((step) => step.kind === "block" && step.types.length > 0) && !existsSync(SCRIPT)) {
      requireReal(context, { name: "script", reason: "no /usr/bin/script; apt-get install bsdutils" });
    }
    for (const step of toRun) {
      if (step.kind === "block" && /\bcurl /.test(step.text) && !isInstalled("curl")) {
        requireReal(context, { name: "curl", reason: "curl is not on PATH; apt-get install curl" });
      }
      expect(await reader.read(step)).toBeUndefined();
    }
  });
});

describe("what is shown to be saved", () => {
  const files = blocks.filter(({ language, notRun }) => language in CONFIG_FILES && notRun === undefined);
  test.for(files)("$page:$line ($language)", async (block, context) => {
    expect(await CONFIG_FILES[block.language]!(block.text, { folder, context })).toBeUndefined();
  });
});

describe("what can't run in a test", () => {
  // Counted, with its reason, so that the list can't grow unseen.
  test.for(blocks.filter(({ notRun }) => notRun !== undefined))("$page:$line", ({ notRun }, context) => {
    expect(notRun, "a reason").toMatch(/\w{3} \w/);
    context.skip(`not run: ${notRun}`);
  });
});

/** How this machine reaches the package registry. */
const registrySettings = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value = ""]) => (REGISTRY_SETTINGS.test(name) ? [[name, value]] : [])),
  );
const REGISTRY_SETTINGS =
  /^(?:https?_proxy|no_proxy|npm_config_(?:registry|cafile|userconfig|globalconfig)|node_extra_ca_certs|ssl_cert_file)$/i;

const isRun = ({ language, notRun, savedAs }: Block): boolean =>
  notRun === undefined && (language === "sh" || savedAs !== undefined);
