// What is said in a room, keys of speech services and arguments of speech programs must not get into logs, events or answers of the API.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { leaksIn, type Told } from "./leak-fixture.ts";

const PLANTED = {
  key: "planted-transcription-key-18f2",
  ttsKey: "planted-speech-key-29a3",
  argument: "planted-argument-of-the-speaker-3ab4",
  listening: "planted-argument-of-the-listener-4bc5",
  spoken: "open the planted safe with 5cd6",
  answer: "the planted answer is 6de7",
};

/** A recorder: silence, then something loud for a second, again and again. */
const RECORDER = `
const rate = 16000;
const silence = new Int16Array(rate * 3);
const sound = Int16Array.from({ length: rate }, (_, at) => 6000 * Math.sin(at / 5));
const bytes = Buffer.concat([silence, sound, silence].map(({ buffer }) => Buffer.from(buffer)));
const write = () => process.stdout.write(bytes, () => setTimeout(write, 1500));
write();
`;

test("spoken words, keys and arguments of speech are in no log and no answer of the API", async () => {
  using home = temporaryHome();
  await using model = await fakeModelServer({ script: () => ({ text: PLANTED.answer }) });
  let refuses = false;
  const speech = createServer((request, response) => {
    request.resume();
    // It quotes what it was sent, as services do.
    const body = refuses ? { error: { message: `wrong key ${request.headers.authorization}` } } : undefined;
    response.writeHead(refuses ? 401 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { text: `computer, ${PLANTED.spoken}` }));
  });
  await new Promise<void>((resolve) => speech.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(speech.address() as AddressInfo).port}/v1`;
  const recorder = join(home.path, "recorder.cjs");
  writeFileSync(recorder, RECORDER);
  const write = (transcription: string, tts: string): void =>
    writeFileSync(
      join(home.path, "config.toml"),
      `
[model]
provider = "openai-compatible"
name = "fake"
base_url = "${model.url}"

[transcription]
enabled = true
${transcription}

[tts]
enabled = true
play = true
${tts}

[channels_config.voice_wake]
wake_word = "computer"
max_transcriptions_per_hour = 10000
recorder = ${JSON.stringify([process.execPath, recorder])}
`,
      { mode: 0o600 },
    );
  const service = (key: string): string => `provider = "openai-compatible"\nbase_url = "${url}"\napi_key = "${key}"`;
  write(service(PLANTED.key), `provider = "command"\ncommand = ["false", "--token=${PLANTED.argument}", "{text}"]`);
  await using daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
  const token = await daemon.pair();
  const told: Told[] = [];
  const ask = async (path: string): Promise<void> =>
    void told.push({ where: path, text: await (await daemon.request(path, { token })).text() });
  const run = async (...args: string[]): Promise<void> => {
    const { stdout, stderr } = await runBinary(args, { home: home.path, binary: fullestBinaryPath() });
    told.push({ where: `svc ${args.join(" ")}`, text: stdout + stderr });
  };
  try {
    await daemon.waitFor(/a command was heard/);
    await daemon.waitFor(/an answer could not be spoken/);
    refuses = true;
    await daemon.waitFor(/could not be transcribed/);
    write(
      `provider = "command"\ncommand = ["false", "--token=${PLANTED.listening}", "{wav}"]`,
      service(PLANTED.ttsKey),
    );
    await run("reload");
    await daemon.waitFor(/could not be transcribed[^]*could not be transcribed/);
    for (const path of ["/api/voice-wake", "/api/channels", "/api/status", "/api/config"]) await ask(path);
    for (const args of ["doctor", "status", "channels list", "config show", "channels test voice_wake"]) {
      await run(...args.split(" "));
    }
    await daemon.stop();
    const logs = join(home.path, "logs");
    for (const name of readdirSync(logs)) told.push({ where: name, text: readFileSync(join(logs, name), "utf8") });
    told.push({ where: "the daemon's output", text: daemon.output() });
    const secrets = [PLANTED.key, PLANTED.ttsKey, PLANTED.spoken, PLANTED.answer];
    expect(leaksIn(told, secrets)).toEqual([]);
    // The config is shown to operators with its commands.
    const elsewhere = told.filter(({ where }) => !/config/.test(where));
    expect(leaksIn(elsewhere, [PLANTED.argument, PLANTED.listening])).toEqual([]);
  } finally {
    speech.closeAllConnections();
    speech.close();
  }
});
