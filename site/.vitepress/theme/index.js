import DefaultTheme from "vitepress/theme";
import Features from "./Features.vue";
import Hero from "./Hero.vue";
import Run from "./Run.vue";
import Runs from "./Runs.vue";
import "./style.css";
import "./home.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    for (const [name, component] of Object.entries({ Features, Hero, Run, Runs })) {
      app.component(name, component);
    }
  },
};
