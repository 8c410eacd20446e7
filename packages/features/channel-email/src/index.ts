/** `channel-email`: a mailbox by IMAP, answers by SMTP. */
import { defineFeature } from "@svc/contract";
import { config } from "./config.ts";

export default defineFeature({
  id: "channel-email",
  section: "channels_config.email",
  config,
  load: () => import("./email.ts"),
});
