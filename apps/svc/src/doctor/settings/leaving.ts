/** Who else gets to see what people write: services that the agent, the recordings and the traces go to. */
import { isPublicBind } from "@svc/gateway";
import type { ResolvedAgent } from "@svc/kernel";
import { type Finding, note, ok, warning } from "../finding.ts";
import { counted } from "./exposure.ts";
import { agentsOf, mayUse, type Settings } from "./settings.ts";

export function leavingFindings(settings: Settings): Finding[] {
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
export function sentTo(id: string, what: string, url: string, off: string): Finding {
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
