// PDFs through the whole binary: a turn reads one, a bomb ends in an error that the model is told, and meanwhile the gateway answers.
import { deflateSync } from "node:zlib";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binaryPath, fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { homeWith, post } from "./daemon.ts";

const FIXTURES = join(import.meta.dirname, "../../../packages/features/rag-pdf/test/fixtures");

const call = (name: string, path: string): ModelStep => ({ calls: [{ name, input: { path } }] });

/** A daemon with PDFs in its workspace, and a model that calls for `tool` and then answers. */
async function harnessOf(script: ModelStep[], files: Readonly<Record<string, Uint8Array>>, binary: string) {
  const model = await fakeModelServer({ script });
  const home = homeWith(
    `[model]\nprovider = "openai-compatible"\nname = "local"\nbase_url = "${model.url}"\napi_key = "k"\n`,
  );
  mkdirSync(join(home.path, "workspace"), { recursive: true });
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(home.path, "workspace", name), bytes);
  const daemon = await startBinary({ home: home.path, binary });
  return {
    daemon,
    token: await daemon.pair(),
    /** What the model was told of its call. */
    told: (at: number): string => JSON.stringify((model.requests[at]!.body["messages"] as unknown[]).at(-1)),
    async [Symbol.asyncDispose]() {
      await daemon.close();
      await model[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

const fixture = (name: string): Uint8Array => readFileSync(join(FIXTURES, `${name}.pdf`));

test("pdf_read and file_read give the text of a PDF, in East Asian encodings too", async () => {
  const files = { "a.pdf": fixture("reportlab-cjk-not-embedded"), "b.pdf": fixture("encrypted-aes256") };
  const script = [
    call("pdf_read", "a.pdf"),
    { text: "one" },
    call("file_read", "a.pdf"),
    { text: "two" },
    call("file_read", "b.pdf"),
    { text: "three" },
  ];
  await using harness = await harnessOf(script, files, fullestBinaryPath());
  for (const answer of ["one", "two", "three"]) {
    expect((await post(harness.daemon, harness.token, "read it")).body.response).toBe(answer);
  }
  expect(harness.told(1)).toMatch(/East Asia.*灯塔立在长长的沙嘴尽头.*毎朝、天気を書き留めた/);
  expect(harness.told(3)).toMatch(/\[page 1\].*灯台は長い砂嘴の先に立っている.*매일 아침 날씨를 적었다/);
  expect(harness.told(5)).toContain("PDF_ENCRYPTED");
});

test("a bomb ends in PDF_TOO_MUCH, and the gateway answers all the while", async () => {
  const script = [call("pdf_read", "bomb.pdf"), { text: "too much" }, call("pdf_read", "a.pdf"), { text: "read" }];
  const files = { "bomb.pdf": bomb(), "a.pdf": fixture("hand-metadata") };
  await using harness = await harnessOf(script, files, fullestBinaryPath());
  const over = new AbortController();
  const turn = post(harness.daemon, harness.token, "read the bomb").finally(() => over.abort());
  let answered = 0;
  while (!over.signal.aborted) {
    expect((await harness.daemon.request("/health")).status).toBe(200);
    if (!over.signal.aborted) answered += 1;
  }
  expect((await turn).body.response).toBe("too much");
  expect(harness.told(1)).toContain("PDF_TOO_MUCH");
  // A daemon that read by itself would have answered when it was over, or not at all.
  expect(answered).toBeGreaterThan(20);
  expect((await post(harness.daemon, harness.token, "read the other")).body.response).toBe("read");
  expect(harness.told(3)).toContain("Metadata is in UTF-16");
});

test("without the feature both tools say how to build it in", async () => {
  const script = [call("pdf_read", "a.pdf"), { text: "one" }, call("file_read", "a.pdf"), { text: "two" }];
  await using harness = await harnessOf(script, { "a.pdf": fixture("hand-metadata") }, binaryPath());
  for (const _ of [1, 2]) await post(harness.daemon, harness.token, "read it");
  expect(harness.told(1)).toMatch(/TOOL_UNAVAILABLE.*rag-pdf.*pnpm build minimal --with rag-pdf/);
  expect(harness.told(3)).toMatch(/rag-pdf.*pnpm build minimal --with rag-pdf/);
  expect(harness.told(3)).not.toContain("endobj");
});

/** One page whose content is 512 MiB of spaces, packed three times. */
function bomb(): Uint8Array {
  const packed = deflateSync(deflateSync(deflateSync(Buffer.alloc(512 * 1024 * 1024, 32))));
  return Buffer.concat([
    Buffer.from(
      "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n" +
        `4 0 obj<</Length ${packed.byteLength}/Filter[/FlateDecode/FlateDecode/FlateDecode]>>stream\n`,
    ),
    packed,
    Buffer.from("\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
  ]);
}
