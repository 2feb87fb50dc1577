// The default theme of VitePress, with the styles of this site.
import Theme from "vitepress/theme";
import "./site.css";

export default Theme;
