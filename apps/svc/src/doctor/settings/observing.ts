/** What observability tells, and to whom: the collector of traces, whoever asks for /metrics, whoever reads the log. */
import { type Finding, note, ok, warning } from "../finding.ts";
import { isReachable } from "./exposure.ts";
import { sentTo } from "./leaving.ts";
import type { Settings } from "./settings.ts";

export function observingFindings(settings: Settings): Finding[] {
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
