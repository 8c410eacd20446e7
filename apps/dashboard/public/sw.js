// Shows notifications, which phones take from a worker only, and push messages. It listens to no request and keeps nothing: what
// the page shows is private. Its texts are in its address, in the language of the page.
const texts = new URL(self.location).searchParams;

self.addEventListener("push", (event) => {
  const { tag = "approval", details } = messageOf(event.data);
  const isTest = tag === "test";
  const shown = self.clients.matchAll({ type: "window", includeUncontrolled: true }).then((pages) => {
    // The page that is looked at says it itself.
    if (!isTest && pages.some((page) => page.focused)) return undefined;
    return self.registration.showNotification("svc", {
      body: isTest
        ? (texts.get("works") ?? "Push messages work.")
        : (details ?? texts.get("waiting") ?? "An approval is waiting."),
      tag,
      icon: "/icon-192.png",
      data: { href: isTest ? "/" : "/#/approvals" },
    });
  });
  event.waitUntil(shown);
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const href = event.notification.data?.href === "/" ? "/" : "/#/approvals";
  event.waitUntil(
    self.clients.matchAll({ type: "window", includeUncontrolled: true }).then((pages) => {
      const page = pages[0];
      if (!page) return self.clients.openWindow(href);
      // A page that no worker controls can't be sent anywhere; it is shown as it is.
      return page.focus().then(() => (href === "/" ? page : page.navigate(href).catch(() => page)));
    }),
  );
});

/** A push service may wake the worker without a message. */
function messageOf(data) {
  try {
    const { tag, details } = data.json();
    return { ...(typeof tag === "string" && { tag }), ...(typeof details === "string" && { details }) };
  } catch {
    return {};
  }
}
