/** What one config makes of the way of messages: which channels there are, who answers, how often is tried again. */
import type { MessagingSettings, SpeechSettings, TranscriptionSettings } from "@svc/messaging";
import { allowedTargetsOf, targetOf } from "./governance/channel-section.ts";
import type { CoreConfig, Lifecycle, LoadedConfig, Registry } from "@svc/kernel";

export function messagingSettings(config: LoadedConfig, registry: Registry, lifecycle: Lifecycle): MessagingSettings {
  const { core } = config;
  return {
    channels: new Map(registry.channels),
    isUp: (channel) => {
      const feature = registry.channelOwners.get(channel);
      return feature !== undefined && lifecycle.stateOf(feature) !== "failed";
    },
    agentOf: (channel) => (config.section(`channels_config.${channel}`) as { agent?: string } | undefined)?.agent,
    targetsOf: (channel) => ({
      allowed: allowedTargetsOf(config, channel),
      notification: targetOf(config, channel)?.id,
    }),
    maxAttempts: core.delivery.max_attempts,
    maxParallelTurns: core.agent.max_parallel_turns,
    transcription: transcriptionOf(core.transcription),
    speech: speechOf(core.tts),
    spokenAnswers: (channel) => core.tts.reply_in[channel] ?? core.tts.reply,
  };
}

function transcriptionOf(section: CoreConfig["transcription"]): TranscriptionSettings | undefined {
  if (!section.enabled) return undefined;
  const { base_url: baseUrl, api_key: apiKey, model, language, max_bytes: maxBytes } = section;
  return { command: commandOf(section), baseUrl, apiKey, model, language, maxBytes };
}

function speechOf(section: CoreConfig["tts"]): SpeechSettings | undefined {
  if (!section.enabled) return undefined;
  const { base_url: baseUrl, api_key: apiKey, model, voice, play, max_chars: maxChars } = section;
  return { command: commandOf(section), baseUrl, apiKey, model, voice, play, maxChars };
}

function commandOf({
  provider,
  command,
}: CoreConfig["transcription" | "tts"]): readonly [string, ...string[]] | undefined {
  const [program, ...more] = command ?? [];
  return provider === "command" && program !== undefined ? [program, ...more] : undefined;
}
