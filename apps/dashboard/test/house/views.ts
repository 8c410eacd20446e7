/** Every view that the navigation leads to, and two that one comes to from there. */
export const VIEWS: readonly { readonly view: string; readonly heading: string }[] = [
  { view: "", heading: "Chats" },
  { view: "overview", heading: "Overview" },
  { view: "approvals", heading: "Approvals" },
  { view: "events", heading: "Live events" },
  { view: "chat", heading: "New chat" },
  { view: "inbox", heading: "Inbox and dead letters" },
  { view: "procedures", heading: "Procedures" },
  { view: "procedures/site-release", heading: "site-release" },
  { view: "devices", heading: "Devices" },
  { view: "config", heading: "Config" },
  { view: "features", heading: "Features" },
  { view: "audit", heading: "Audit log" },
  { view: "shortcuts", heading: "Keyboard shortcuts" },
];
