import { render } from "preact";
import { App } from "./app.tsx";
import { followSession, makeServices, ServicesProvider } from "./services.ts";

const root = document.getElementById("page");
if (root !== null) {
  const services = makeServices(window);
  void services.session.start().then(() => followSession(services, window));
  render(
    <ServicesProvider value={services}>
      <App />
    </ServicesProvider>,
    root,
  );
}
