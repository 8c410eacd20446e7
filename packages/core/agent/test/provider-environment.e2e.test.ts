// A variable left over from another tool (OPENAI_BASE_URL and the like) must not decide where the key is sent.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Each request is told before its connection is opened, and none is. */
const SCRIPT = `
  import { subscribe } from "node:diagnostics_channel";
  const { AgentModels } = await import(process.env.MODULE);
  subscribe("undici:request:create", ({ request: { origin, path, headers } }) => {
    console.log(JSON.stringify({ url: origin + path, headers }));
    process.exit();
  });
  const config = { provider: process.env.PROVIDER, name: "m", api_key: "own-key", max_retries: 0 };
  const model = await new AgentModels(undefined).modelOf({ name: "main", model: config });
  await model.doGenerate({ prompt: [{ role: "user", content: [{ type: "text", text: "x" }] }] });
`;

test.each([
  ["openai", "https://api.openai.com/v1/responses"],
  ["anthropic", "https://api.anthropic.com/v1/messages"],
])("%s is called where it lives, with the key of the config", async (provider, url) => {
  const env: Record<string, string> = {
    PROVIDER: provider,
    MODULE: new URL("../src/models/agent-models.ts", import.meta.url).href,
  };
  for (const name of ["OPENAI", "ANTHROPIC"]) {
    Object.assign(env, { [`${name}_BASE_URL`]: "http://127.0.0.1:1/v1", [`${name}_API_KEY`]: "other-key" });
  }
  Object.assign(env, {
    OPENAI_ORGANIZATION: "other-org",
    OPENAI_PROJECT: "other",
    ANTHROPIC_AUTH_TOKEN: "other-token",
  });
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", SCRIPT], { env });
  expect((JSON.parse(stdout) as { url: string }).url).toBe(url);
  expect(stdout).toContain("own-key");
  expect(stdout).not.toContain("other");
});
