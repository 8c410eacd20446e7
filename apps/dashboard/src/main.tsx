import { render } from "preact";
import { App } from "./app.tsx";
import { takePairingCode } from "./session/session.ts";
import { followSession, makeServices, ServicesProvider } from "./services.ts";

const root = document.getElementById("page");
if (root !== null) {
  const code = takePairingCode(window);
  // A link that is opened in a tab of ours loads nothing. Before the route is followed: a code is no place.
  window.addEventListener("hashchange", () => void services.session.openLink(takePairingCode(window)));
  const services = makeServices(window);
  void services.session.openLink(code);
  void services.session.start().then(() => followSession(services, window));
  render(
    <ServicesProvider value={services}>
      <App />
    </ServicesProvider>,
    root,
  );
}
