/** Every check of what is configured. */
import { isAbsolute, relative, sep } from "node:path";
import { LIMIT_KEYS, type SandboxChoice } from "@svc/agent";
import { absentBrowser, DEFAULT_AGENT, LEAST_CHOSEN_CHARS, type ResolvedAgent } from "@svc/config";
import { isPublicBind } from "@svc/gateway";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import {
  approverFindings,
  approverProofFindings,
  channelFindings,
  senderFindings,
  webhookFindings,
  writerFindings,
} from "./channels.ts";
import { counted, exposureFindings, isReachable, proxyFindings } from "./exposure.ts";
import { agentApprovalFindings, policyFindings, runsCommands } from "./policy.ts";
import { speechFindings } from "./speech.ts";
import { agentsOf, isConfined, keyOf, mayUse, type Settings } from "./settings.ts";
import { sandboxState } from "../../service/sandbox-state.ts";

/** Who else gets to see what people write: services that the agent, the recordings and the traces go to. */
function leavingFindings(settings: Settings): Finding[] {
  const { transcription, tts, "security.net": net } = settings.config.core;
  const agents = agentsOf(settings);
  return [
    ...agents.map(modelHost),
    transcription.enabled && transcription.provider !== "command"
      ? sentTo(
          "transcription-host",
          "What people say in recordings",
          transcription.base_url,
          "transcription.enabled = false",
        )
      : ok("transcription-host", "No recording is sent anywhere to be transcribed."),
    tts.enabled && tts.provider !== "command"
      ? sentTo("speech-host", "What is spoken", tts.base_url, "tts.enabled = false")
      : ok("speech-host", "No answer is sent anywhere to be spoken."),
    ...agents.filter((agent) => mayUse(settings, agent, "http_get")).map(webRequests),
    net.allow_private.length > 0
      ? warning(
          "allow-private",
          `Outgoing requests may reach ${counted(net.allow_private.length, "private address", "private addresses")}.`,
          "take what is not needed out of security.net.allow_private",
        )
      : ok("allow-private", "Outgoing requests reach no private address."),
  ];
}

/** That this goes to `url`, unless that is this machine. In the clear it is read by others as well. */
function sentTo(id: string, what: string, url: string, off: string): Finding {
  const { host, hostname, protocol } = new URL(url);
  if (!isPublicBind(hostname.replace(/^\[(.*)\]$/, "$1"))) return ok(id, `${what} goes to a service on this machine.`);
  if (protocol === "https:") return note(id, `${what} goes to ${host}.`, `set ${off}, or a service of your own`);
  return warning(id, `${what} goes to ${host}, in the clear.`, `use https, or set ${off}`);
}

function modelHost({ name, model }: ResolvedAgent): Finding {
  const id = "model-host";
  const what = `What the agent ${name} reads, and its prompts,`;
  if (model.provider === "builtin") return ok(id, `${what} goes nowhere: its model is built in.`);
  const fix = "a model on this machine: model.provider = openai-compatible, with its base_url";
  if (model.base_url === undefined)
    return note(id, `${what} goes to ${model.provider}.`, `choose ${fix}, where that is too much`);
  const found = sentTo(id, what, model.base_url, "");
  return found.level === "ok"
    ? found
    : { ...found, fix: found.level === "note" ? `choose ${fix}, where that is too much` : "use https" };
}

/** A request is a way out, whatever it asks for: its URL can hold what the agent has read. */
function webRequests({ name }: ResolvedAgent): Finding {
  const message = `The agent ${name} asks any public address for pages without being asked: what it has read can leave in a URL.`;
  return note("web-requests", message, 'add "http_get" to tools.disabled, where that is too much');
}

/** What observability discloses, and to whom: the collector of traces, clients of /metrics, readers of the log. */
function observingFindings(settings: Settings): Finding[] {
  return [...traces(settings), metrics(settings), strangers(settings), logLevel(settings)];
}

/** One that this build lacks tells nothing: the log stands in for it. */
function isOn({ config, catalogue }: Settings, backend: "metrics" | "otel"): boolean {
  const isIncluded = catalogue.some(({ id, included }) => included && id === `observability-${backend}`);
  return isIncluded && config.core.observability.backend === backend;
}

function traces(settings: Settings): Finding[] {
  const { otel_endpoint: endpoint, otel_record_content: content } = settings.config.core.observability;
  if (!isOn(settings, "otel")) return [ok("trace-host", "No trace is sent anywhere.")];
  return [
    sentTo(
      "trace-host",
      "What the service does, by whom and how long it takes,",
      endpoint,
      'observability.backend = "log"',
    ),
    content
      ? warning(
          "trace-content",
          "Traces contain what people, models and tools say: anyone who can read the collector can read the conversations.",
          "set observability.otel_record_content = false",
        )
      : ok("trace-content", "Traces hold nothing of what is said."),
  ];
}

function metrics(settings: Settings): Finding {
  const id = "public-metrics";
  if (!isOn(settings, "metrics")) return ok(id, "GET /metrics tells no numbers.");
  if (!isReachable(settings)) return ok(id, "Only programs on this machine can read GET /metrics.");
  const message = "Anyone who can reach the service can read GET /metrics: how much it is used, and what it costs.";
  return warning(id, message, "let the proxy keep /metrics out, and ask for it on this machine");
}

function strangers(settings: Settings): Finding {
  const id = "public-paths";
  if (!isReachable(settings)) return ok(id, "Strangers can't tell that svc runs here.");
  const message =
    "Strangers can tell that svc runs here: by its page, by /openapi.json, and by /health, which also tells its state and when it was restarted.";
  return note(id, message, "let the proxy pass on only what platforms and devices call, where that is too much");
}

function logLevel({ config }: Settings): Finding {
  const id = "log-level";
  if (config.core.log.level !== "debug") return ok(id, "The log holds what an operator needs.");
  return note(id, "The log holds more than an operator needs (log.level = debug).", 'set log.level = "info"');
}

/** Who answers, what it costs, and what it may spend. */
function agentFindings(settings: Settings): Finding[] {
  return agentsOf(settings).flatMap((agent) => [modelFinding(agent), ...moneyFindings(agent)]);
}

function modelFinding({ name, model }: ResolvedAgent): Finding {
  if (model.provider !== "builtin") return ok("model", `The agent ${name} is ${model.name} by ${model.provider}.`);
  const message = `The agent ${name} uses the built-in model, which only repeats messages.`;
  if (name !== DEFAULT_AGENT) return ok("model", message);
  return warning("model", message, "set provider, name and api_key in [model]");
}

function moneyFindings(agent: ResolvedAgent): Finding[] {
  const { name, model, maxCostPerDay, clientMaxCostPerDay } = agent;
  if (model.provider === "builtin") return [];
  const limit = keyOf(agent, "agent", "max_cost_per_day");
  const known = model.price !== undefined;
  return [
    known
      ? ok("price", `The price of ${model.name} is known.`)
      : warning(
          "price",
          `The price of ${model.name} is UNKNOWN: what the agent ${name} costs is not counted.`,
          `set input_per_million and output_per_million in [prices.${JSON.stringify(model.name)}]`,
        ),
    maxCostPerDay === undefined && clientMaxCostPerDay === undefined
      ? ok("budget", `The agent ${name} has no limit of cost (${limit}).`)
      : known
        ? ok("budget", `The agent ${name} may spend ${limitText(agent)}.`)
        : error(
            "budget",
            `The agent ${name} may spend ${limitText(agent)}, but without a price it is refused every turn.`,
            `set the price of ${model.name}, or remove ${limit}`,
          ),
  ];
}

/** A client's limit that is the agent's own is no second one. */
function limitText({ maxCostPerDay: all, clientMaxCostPerDay: client }: ResolvedAgent): string {
  if (client === undefined || client === all) return `$${all} a day`;
  return all === undefined ? `$${client} a day for each client` : `$${all} a day, $${client} of it for one client`;
}

/** Whether anything confines the commands that the agents run. */
function sandboxFindings(settings: Settings): Finding[] {
  const { sandbox } = settings;
  if (sandbox === undefined) {
    return [warning("sandbox", "It could not be told which sandbox is in force.", "run svc doctor again")];
  }
  const { effective, confined, summary, fix, reasons } = sandboxState(sandbox, settings);
  if (confined) return [ok("sandbox", [summary, ...reasons].join(" ")), ...unheldFindings(sandbox)];
  if (effective === "unavailable") return [error("sandbox", summary, fix ?? "set security.sandbox.required = false")];
  if (!agentsOf(settings).some((agent) => runsCommands(settings, agent))) {
    return [ok("sandbox", "No agent may run commands, so that none has to be confined.")];
  }
  return [warning("sandbox", summary, fix ?? "svc doctor")];
}

/** Limits that nobody wrote down: one that is written down and can't be held makes the sandbox unavailable. */
const unheldFindings = ({ effective, unenforced }: SandboxChoice): Finding[] =>
  unenforced.map((limit) => {
    const key = `security.sandbox.${LIMIT_KEYS[limit]}`;
    return note(
      "sandbox-limits",
      `The sandbox ${effective} can't hold the default of ${key} here.`,
      `set ${key} to demand it`,
    );
  });

/** Where nothing confines commands they have the network anyway. */
function sandboxNetworkFindings(settings: Settings): Finding[] {
  if (!isConfined(settings)) return [];
  const id = "sandbox-network";
  return settings.config.core["security.sandbox"].network
    ? [note(id, "Commands in the sandbox reach the network.", "set security.sandbox.network = false")]
    : [ok(id, "Commands in the sandbox reach no network.")];
}

/** What is posted to the operator's own URL: whether it goes anywhere, and whether its receiver can tell it from anybody's. */
const SECTION = "channels_config.webhook";

function outgoingWebhookFindings({ config }: Settings): Finding[] {
  // Keys of a feature, which a build may lack: then none of them is there.
  const { url, url_secret: secret, ...others } = (config.section(SECTION) ?? {}) as Readonly<Record<string, unknown>>;
  if (isSet(url)) return [isSet(secret) ? ok(SIGNED, "What is posted to your URL is signed.") : unsigned()];
  const useless = ONLY_WITH_URL.filter((key) => isSet(others[key]));
  return useless.length === 0 && !isSet(secret) ? [] : [nowhere(useless[0] ?? "url_secret")];
}

const SIGNED = "outgoing-webhook-signature";
const ONLY_WITH_URL = ["authorization", "notification_target", "allowed_targets"];

const isSet = (value: unknown): boolean =>
  typeof value === "string" ? value.trim() !== "" : Array.isArray(value) && value.length > 0;

function unsigned(): Finding {
  const message = `Who receives what ${SECTION}.url says can't tell it from anyone's: it is not signed.`;
  return warning(SIGNED, message, `svc secrets set ${SECTION}.url_secret`);
}

const nowhere = (key: string): Finding =>
  warning(
    "outgoing-webhook",
    `${SECTION}.${key} does nothing: no url is set.`,
    `svc config set ${SECTION}.url https://…`,
  );

/** The home and the workspaces apart: what the agent may write must not be what the service runs on. */
function workspaceFindings({ home, workspaces }: Settings): Finding[] {
  const own = [home.stateDir, home.runDir, home.logsDir, home.config, home.secretKey];
  return [...workspaces].map(([name, root]) => {
    const overlaps = contains(root, home.root) || own.some((path) => contains(path, root) || contains(root, path));
    return overlaps
      ? error(
          "workspace",
          `The workspace of the agent ${name} holds the service's own files.`,
          "choose a folder of its own in workspace.path or agents.<name>.workspace, or another SVC_HOME",
        )
      : ok("workspace", `The workspace of the agent ${name} is apart from the service's files.`);
  });
}

/** Also when both are the same. */
function contains(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return !isAbsolute(path) && path !== ".." && !path.startsWith(`..${sep}`);
}

/** Secrets that are the operator's to choose, and were chosen so short that they can be guessed. */
const ID = "secrets-weak";

function weakSecretFindings({ config }: Settings): Finding[] {
  const keys = config.guessableSecrets();
  if (keys.length === 0) return [ok(ID, "No secret of this service's own is short enough to be guessed.")];
  return keys.map((key) => {
    const message = `${key} has fewer than ${LEAST_CHOSEN_CHARS} characters: it can be guessed.`;
    return warning(ID, message, `openssl rand -hex 32, then: svc secrets set ${key}; every sender of it needs it too`);
  });
}

/** Whether the browser that the config asks for is in this build. */
function browserFindings({ config, features, catalogue }: Settings): Finding[] {
  const id = "browser";
  const { browser } = config.core;
  if (!browser.enabled) return [];
  const absent = absentBrowser(browser, features, catalogue);
  if (absent === undefined) return [ok(id, `The browser backend ${browser.backend} is in this build.`)];
  const message = `The browser backend ${browser.backend} is not in this build: the tool browser is unavailable.`;
  return [warning(id, message, absent.build)];
}

/** Whether who is to watch is in this build. */
function backendFindings({ config, catalogue }: Settings): Finding[] {
  const id = "observability";
  const { backend } = config.core.observability;
  if (config.backend === backend) return [ok(id, `The backend that watches is ${backend}, as the config says.`)];
  const message =
    `The backend that is to watch, ${backend}, is not in this build: ` +
    `turns and deliveries are written to the log (backend ${config.backend}) instead.`;
  const entry = catalogue.find((each) => each.id === `observability-${backend}`);
  return [warning(id, message, entry?.build ?? "svc features --all")];
}

/** Secrets that the log can't be kept clean of. */
function shortSecretFindings({ config }: Settings): Finding[] {
  const keys = config.shortSecrets();
  if (keys.length === 0) return [ok("secrets-short", "Every secret is long enough to be kept out of the log.")];
  return keys.map((key) => {
    const variable = config.setBy(key);
    const how = variable === undefined ? `svc secrets set ${key}` : `change ${variable}`;
    const message = `${key} has fewer than four characters: too short to be kept out of the log.`;
    return warning("secrets-short", message, `choose a longer one where it comes from, then: ${how}`);
  });
}

/** Whether passkeys are on, and whether one is enough to come in. */
function passkeyFindings({ config }: Settings): Finding[] {
  const id = "passkeys";
  const section = config.section("security.webauthn") as { readonly sign_in?: boolean } | undefined;
  if (section === undefined) return [ok(id, "Passkeys are off.")];
  if (section.sign_in !== true)
    return [ok(id, "A passkey opens nothing without a token (security.webauthn.sign_in is off).")];
  const message = "A passkey is enough to sign in, as the device that registered it: strangers may try theirs.";
  return [note(id, message, "set security.webauthn.sign_in = false, where the token is to be asked for, too")];
}

/** The URL that providers call. Whether it leads here is looked at over the network (machine/public-url.ts). */
function publicUrlFindings({ config }: Settings): Finding[] {
  const { public_url: url } = config.core.gateway;
  if (url === undefined) return [ok("public-url", "gateway.public_url is not set: no provider can call this service.")];
  if (new URL(url).protocol === "https:") return [ok("public-url", "gateway.public_url is https.")];
  const message = "gateway.public_url is http: tokens and messages can be read on their way.";
  return [
    warning("public-url", message, "put a reverse proxy with TLS in front, and set gateway.public_url to https://…"),
  ];
}

const GENERAL: readonly ((settings: Settings) => Finding[])[] = [
  agentFindings,
  sandboxFindings,
  publicUrlFindings,
  channelFindings,
  outgoingWebhookFindings,
  approverFindings,
  shortSecretFindings,
  backendFindings,
  browserFindings,
  speechFindings,
];

/** What is open, whether or not that is a mistake. */
const POSTURE: typeof GENERAL = [
  exposureFindings,
  proxyFindings,
  webhookFindings,
  senderFindings,
  writerFindings,
  approverProofFindings,
  agentApprovalFindings,
  policyFindings,
  sandboxNetworkFindings,
  workspaceFindings,
  passkeyFindings,
  leavingFindings,
  observingFindings,
  weakSecretFindings,
];

/** `security`: also what is open. */
export function settingsFindings(settings: Settings, { security }: { readonly security: boolean }): Finding[] {
  return [...GENERAL, ...(security ? POSTURE : [])].flatMap((find) => find(settings));
}
