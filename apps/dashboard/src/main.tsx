import { render } from "preact";
import { App } from "./app.tsx";
import { takePairingCode } from "./session/session.ts";
import { languageOf, showLanguage, shown } from "./texts/texts.ts";
import { followSession, makeServices, ServicesProvider } from "./services.ts";

const root = document.getElementById("page");
if (root !== null) {
  const code = takePairingCode(window);
  // A link that is opened in a tab of ours loads nothing. Before the route is followed: a code is no place.
  window.addEventListener("hashchange", () => void services.session.openLink(takePairingCode(window)));
  const services = makeServices(window);
  void services.session.openLink(code);
  void services.session.start().then(() => followSession(services, window));
  shown.follow(() => (document.documentElement.lang = shown.value.language));
  const draw = (): void =>
    render(
      <ServicesProvider value={services}>
        <App />
      </ServicesProvider>,
      root,
    );
  // Whose texts can't be loaded gets English ones.
  void showLanguage(languageOf(window)).then(draw, draw);
}
