/** A daemon with everyday channels behind it: the real binary, strict platforms, a model that says what a test wants. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { type FakeModelOptions, type FakeModelServer, fakeModelServer } from "@svc/testkit/fake-model/server";
import { EVERYDAY, type EverydayPlatform } from "@svc/testkit/platforms/everyday";
import { temporaryHome } from "@svc/testkit/temporary-home";

export interface EverydayFixture extends AsyncDisposable {
  readonly home: string;
  readonly platforms: readonly EverydayPlatform[];
  readonly model: FakeModelServer | undefined;
  daemon: RunningBinary;
  start(): Promise<void>;
  /** The config from here on; `keys`: more of each channel's section. */
  config(more: string, keys?: string): void;
  svc(...args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Of `svc … --json`. */
  json<T>(...args: readonly string[]): Promise<T>;
}

export interface EverydayOptions {
  readonly channels: readonly (keyof typeof EVERYDAY)[];
  /** Of the config, before the channels. */
  readonly more?: string;
  readonly keys?: string;
  readonly script?: FakeModelOptions["script"];
}

export async function startEveryday({
  channels,
  more = "",
  keys = "",
  script,
}: EverydayOptions): Promise<EverydayFixture> {
  const stack = new AsyncDisposableStack();
  const home = stack.use(temporaryHome());
  const platforms: EverydayPlatform[] = [];
  for (const channel of channels) {
    const platform = await EVERYDAY[channel]();
    stack.defer(() => platform.close());
    platforms.push(platform);
  }
  const model = script && stack.use(await fakeModelServer({ script }));
  const fixture: EverydayFixture = {
    home: home.path,
    platforms,
    model,
    // Set by `start`.
    daemon: undefined as unknown as RunningBinary,
    config(text, own = keys) {
      const sections = platforms.map((platform) => platform.section(own)).join("\n");
      writeFileSync(join(home.path, "config.toml"), `${text}\n${model ? modelSection(model) : ""}\n${sections}\n`, {
        mode: 0o600,
      });
    },
    async start() {
      fixture.daemon = await startBinary({ home: home.path });
    },
    svc: (...args) => runBinary(args, { home: home.path }),
    async json(...args) {
      const { stdout, stderr } = await fixture.svc(...args, "--json");
      if (stdout === "") throw new Error(stderr);
      return JSON.parse(stdout) as never;
    },
    async [Symbol.asyncDispose]() {
      await fixture.daemon?.close();
      await stack.disposeAsync();
    },
  };
  fixture.config(more);
  await fixture.start();
  return fixture;
}

const modelSection = ({ url }: FakeModelServer): string =>
  `[model]\nprovider = "openai-compatible"\nname = "fake"\nbase_url = "${url}"\napi_key = "key-of-the-model"\n`;
