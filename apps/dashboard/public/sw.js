// Shows notifications, which phones take from a worker only. It listens to no request and keeps nothing: what the page shows is private.
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(
    self.clients.matchAll({ type: "window" }).then((pages) => {
      const page = pages[0];
      if (page) return page.focus().then(() => page.navigate("/#/approvals"));
      return self.clients.openWindow("/#/approvals");
    }),
  );
});
