/** The real daemon with procedures, and a chat in which a person is asked. */
import { writeFileSync } from "node:fs";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { atExit } from "../fixture/at-exit.ts";
import { configOf } from "../fixture/config.ts";
import { Lives } from "../fixture/lives.ts";
import { openProviderA } from "../providers/provider-a.ts";
import { fieldsOf, phoneOf } from "../providers/provider.ts";
import { writeProcedures } from "./files.ts";
import { doStep } from "./model.ts";

/** A question as it reached the person's phone. */
export interface Posted {
  readonly approval: number;
  /** The life of the daemon that posted it. */
  readonly life: number;
  /** It was the last that this life asked the platform for. */
  isLast: boolean;
}

export interface GovernedFixture extends AsyncDisposable {
  readonly home: string;
  readonly lives: Lives;
  readonly posted: readonly Posted[];
}

/** Who is asked, and may answer. */
export const APPROVER = phoneOf("a0");

const GOVERNED = `approvers = ["${APPROVER}"]
notification_target = "${APPROVER}"

[sop]
max_concurrent_total = 1000000

[gateway]
webhook_rate_limit_per_minute = 0
`;

/** Nothing runs yet. */
export async function openGovernedFixture(binary: string | undefined): Promise<GovernedFixture> {
  await using stack = new AsyncDisposableStack();
  const own = stack.use(temporaryHome());
  const model = stack.use(await fakeModelServer({ script: doStep }));
  const provider = stack.use(await openProviderA());
  writeProcedures(own.path);
  // What stands behind the provider's section belongs to it.
  const lives = await Lives.of({
    home: own.path,
    providers: [provider],
    configure: (originOf) =>
      writeFileSync(`${own.path}/config.toml`, configOf([provider], originOf, model.url) + GOVERNED, { mode: 0o600 }),
    binary,
    env: {},
  });
  stack.defer(() => lives.close());
  stack.defer(atExit(() => own.remove()));
  const posted: Posted[] = [];
  provider.platform.mood = (request) => {
    note(posted, request, lives);
    return "takes";
  };
  const stored = stack.move();
  return { home: own.path, lives, posted, [Symbol.asyncDispose]: () => stored.disposeAsync() };
}

function note(posted: Posted[], request: PlatformRequest, lives: Lives): void {
  const port = Number(/:(\d+)$/.exec(request.headers["host"] ?? "")?.[1]);
  const life = lives.lifeOf("provider_a", port);
  const before = posted.at(-1);
  if (before?.life === life) before.isLast = false;
  const { type, interactive } = fieldsOf(request.json);
  const approval = /svc-prompt:ap-(\d+):yes/.exec(JSON.stringify(interactive ?? ""))?.[1];
  if (type === "interactive" && approval !== undefined) posted.push({ approval: Number(approval), life, isLast: true });
}
