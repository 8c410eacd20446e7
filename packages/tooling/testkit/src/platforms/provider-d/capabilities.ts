/** The server's public capabilities, without long parts that a bot does not use. */
import type { Json } from "@svc/contract";

/** Undefined: without the chat app. */
export const capabilities = (features: readonly string[] | undefined): Json => ({
  version: { major: 31, minor: 0, micro: 2, string: "31.0.2", edition: "", extendedSupport: false },
  capabilities: {
    bruteforce: { delay: 0, "allow-listed": false },
    theming: { name: "Cloud", url: "https://cloud.example.org", slogan: "a safe home for all your data" },
    ...(features && {
      spreed: {
        features: [...features],
        "features-local": ["favorites", "chat-read-status"],
        config: {
          attachments: { allowed: false },
          call: { enabled: true, "supported-reactions": ["❤️", "🎉"] },
          chat: { "max-length": 32_000, "read-privacy": 0, "typing-privacy": 0 },
          conversations: { "can-create": false },
        },
        "config-local": { chat: ["read-privacy"] },
        version: "21.0.1",
      },
    }),
  },
});
