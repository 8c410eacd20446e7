/** A daemon with a telephone behind it: the real binary, a strict platform, a service of speech, a model that says what a test wants. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type FakeModelOptions, type FakeModelServer } from "@svc/testkit/fake-model/server";
import { startVoicePlatform, type VoicePlatform } from "@svc/testkit/platforms/voice-call/server";
import { temporaryHome } from "@svc/testkit/temporary-home";

const ACCOUNT = "AC0123456789abcdef0123456789abcdef";
const TOKEN = "auth-token-of-the-calls";
/** May be called by the agent. */
export const MOTHER = "+15557654321";
const NUMBER = "+15550009999";
/** May call, and approve. */
export const PERSON = "+15551234567";
const PUBLIC = "https://svc.example.org";

export interface VoiceFixture extends AsyncDisposable {
  readonly platform: VoicePlatform;
  readonly model: FakeModelServer;
  /** Voices and texts that the service of speech was asked for. */
  readonly spoken: readonly { readonly voice: string; readonly input: string }[];
  daemon: RunningBinary;
  start(): Promise<void>;
  /** `tts`: lines of that section. */
  config(tts?: string): void;
  svc(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

export async function startVoiceFixture(script: FakeModelOptions["script"]): Promise<VoiceFixture> {
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const platform = stack.use(
    await startVoicePlatform({
      accountSid: ACCOUNT,
      authToken: TOKEN,
      number: NUMBER,
      routeTo: (url) => url.replace(PUBLIC, fixture.daemon.url),
    }),
  );
  Object.assign(platform.number, { voiceUrl: `${PUBLIC}/voice-call`, statusCallback: `${PUBLIC}/voice-call/status` });
  const model = stack.use(await fakeModelServer({ script }));
  const { url, spoken, close } = await startSpeech();
  stack.defer(close);
  const fixture: VoiceFixture = {
    platform,
    model,
    spoken,
    // Set by `start`.
    daemon: undefined as unknown as RunningBinary,
    async start() {
      fixture.daemon = await startBinary({ home: home.path });
    },
    config: (tts = "") =>
      writeFileSync(join(home.path, "config.toml"), sections(platform.url, model.url, url, tts), { mode: 0o600 }),
    svc: (...args) => runBinary(args, { home: home.path }),
    async [Symbol.asyncDispose]() {
      await (fixture.daemon as RunningBinary | undefined)?.close();
      await stack.disposeAsync();
    },
  };
  fixture.config();
  await fixture.start();
  await fixture.daemon.waitFor(/the platform knows this channel/);
  return fixture;
}

/** `tts`: lines of that section. */
const sections = (platform: string, model: string, speech: string, tts: string): string => `
[gateway]
public_url = "${PUBLIC}"

[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model}"
api_key = "key-of-the-model"

[tts]
base_url = "${speech}"
api_key = "key-of-the-speech"
${tts}

[channels_config.voice_call]
account_sid = "${ACCOUNT}"
auth_token = "${TOKEN}"
from_number = "${NUMBER}"
allowed_numbers = ["${PERSON}"]
approvers = ["${PERSON}"]
allowed_targets = ["${MOTHER}"]
api_url = "${platform}"
`;

/** What is spoken is the voice and the text. */
async function startSpeech() {
  const spoken: { voice: string; input: string }[] = [];
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const asked = JSON.parse(body) as { voice: string; input: string };
      spoken.push(asked);
      response.writeHead(200, { "content-type": "audio/mpeg" }).end(`${asked.voice}: ${asked.input}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, spoken, close };
}
