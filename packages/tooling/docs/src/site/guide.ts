/** The pages of the guide, in the order in which a person needs them; the test of its commands reads them in this order. */
export const GUIDE: readonly { readonly page: string; readonly title: string }[] = [
  { page: "install", title: "Install" },
  { page: "first-turn", title: "First turn" },
  { page: "profiles", title: "Profiles" },
  { page: "config", title: "Config" },
  { page: "secrets", title: "Secrets" },
  { page: "devices", title: "Pairing and devices" },
  { page: "agents", title: "Agents and budgets" },
  { page: "reload", title: "Reload and restart" },
  { page: "public", title: "Going public" },
  { page: "channels", title: "Channels" },
  { page: "inbox", title: "The inbox" },
  { page: "service", title: "Running as a service" },
  { page: "backup", title: "Backup and restore" },
  { page: "doctor", title: "Doctor" },
  { page: "logs", title: "Logs" },
  { page: "troubleshooting", title: "Troubleshooting" },
];
