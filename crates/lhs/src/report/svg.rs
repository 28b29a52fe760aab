//! Figures as SVG: axes with round ticks, lines with bands, steps, dots and bars.
//!
//! Axes and text take the colour of the page around them, so one figure serves light and dark pages and paper; series
//! have colours that colour-blind readers can tell apart (Okabe and Ito's).

use std::fmt::Write;

/// Colours of the series.
pub const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F"];

const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 42.0;

/// The range of an axis and what it shows.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis over a range.
    pub fn new(label: &str, from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Axis { label: label.into(), from, to }
    }

    /// An axis with room for all values.
    pub fn around(label: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let bounds = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.into_iter().fold(bounds, |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return Axis::new(label, 0.0, 1.0);
        }
        let room = 0.06 * (high - low).max(1e-9);
        Axis::new(label, low - room, high + room)
    }

    /// Round numbers in the range, about `count` of them.
    fn ticks(&self, count: f64) -> Vec<f64> {
        let raw = (self.to - self.from) / count;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|s| *s >= raw).unwrap_or(raw);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|tick| tick as f64 * step).collect()
    }
}

/// A figure in the making.
pub struct Plot {
    size: (f64, f64),
    x: Axis,
    y: Axis,
    body: String,
    legend: Vec<(String, &'static str)>,
}

impl Plot {
    /// An empty figure.
    pub fn new(x: Axis, y: Axis) -> Self {
        Plot { size: (420.0, 260.0), x, y, body: String::new(), legend: Vec::new() }
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = (self.size.0 - LEFT - RIGHT, self.size.1 - TOP - BOTTOM);
        let share = |axis: &Axis, value: f64| (value - axis.from) / (axis.to - axis.from);
        (LEFT + width * share(&self.x, x), TOP + height * (1.0 - share(&self.y, y)))
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            let (x, y) = self.place(x, y);
            let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        path
    }

    /// Names a series.
    pub fn legend(&mut self, name: &str, colour: usize) {
        self.legend.push((name.into(), COLOURS[colour % COLOURS.len()]));
    }

    /// A line through points, with dots at them if they are few.
    pub fn line(&mut self, points: &[(f64, f64)], colour: usize) {
        let stroke = COLOURS[colour % COLOURS.len()];
        let path = self.path(points);
        let _ =
            write!(self.body, "<path d=\"{path}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.8\"/>");
        if points.len() <= 12 {
            points.iter().for_each(|&(x, y)| self.dot(x, y, colour, &format!("{y:.2}")));
        }
    }

    /// The area between two lines over the same places.
    pub fn band(&mut self, points: &[(f64, f64, f64)], colour: usize) {
        let low = points.iter().map(|&(x, low, _)| (x, low));
        let high = points.iter().rev().map(|&(x, _, high)| (x, high));
        let path = self.path(&low.chain(high).collect::<Vec<_>>());
        let fill = COLOURS[colour % COLOURS.len()];
        let _ = write!(self.body, "<path d=\"{path}Z\" fill=\"{fill}\" fill-opacity=\"0.15\"/>");
    }

    /// A histogram over [0, 1], as shares of all.
    pub fn steps(&mut self, histogram: &[usize], colour: usize) {
        let total = histogram.iter().sum::<usize>().max(1) as f64;
        let width = 1.0 / histogram.len().max(1) as f64;
        let mut points = vec![(0.0, 0.0)];
        for (bin, &count) in histogram.iter().enumerate() {
            let share = count as f64 / total;
            points.extend([(bin as f64 * width, share), ((bin + 1) as f64 * width, share)]);
        }
        points.push((1.0, 0.0));
        let path = self.path(&points);
        let stroke = COLOURS[colour % COLOURS.len()];
        let _ = write!(
            self.body,
            "<path d=\"{path}\" fill=\"{stroke}\" fill-opacity=\"0.10\" stroke=\"{stroke}\" stroke-width=\"1.5\"/>"
        );
    }

    /// A dot that says something when it is pointed at.
    pub fn dot(&mut self, x: f64, y: f64, colour: usize, said: &str) {
        let (x, y) = self.place(x, y);
        let fill = COLOURS[colour % COLOURS.len()];
        let _ = write!(
            self.body,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{fill}\"><title>{}</title></circle>",
            escaped(said)
        );
    }

    /// The finished figure; `title` is read out to those who cannot see it.
    pub fn finish(self, title: &str) -> String {
        let rows = self.legend.len().div_ceil(3);
        let (width, height) = (self.size.0, self.size.1 + 18.0 * rows as f64);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" font-size=\"11\" \
             font-family=\"system-ui,sans-serif\" fill=\"currentColor\"><title>{}</title>",
            escaped(title)
        );
        self.axes(&mut svg);
        svg.push_str(&self.body);
        for (index, (name, colour)) in self.legend.iter().enumerate() {
            let x = LEFT + (index % 3) as f64 * (width - LEFT) / 3.0;
            let y = self.size.1 + 12.0 + 18.0 * (index / 3) as f64;
            let _ = write!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                y - 9.0,
                x + 14.0,
                escaped(name)
            );
        }
        svg + "</svg>"
    }

    fn axes(&self, svg: &mut String) {
        let (right, bottom) = (self.size.0 - RIGHT, self.size.1 - BOTTOM);
        for tick in self.x.ticks(6.0) {
            let x = self.place(tick, 0.0).0;
            let _ = write!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"currentColor\" stroke-opacity=\"0.12\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 15.0,
                short(tick)
            );
        }
        for tick in self.y.ticks(5.0) {
            let y = self.place(0.0, tick).1;
            let _ = write!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"currentColor\" stroke-opacity=\"0.12\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 4.0,
                short(tick)
            );
        }
        let middle = (TOP + bottom) / 2.0;
        let _ = write!(
            svg,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.6\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(14 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (LEFT + right) / 2.0,
            bottom + 33.0,
            escaped(&self.x.label),
            escaped(&self.y.label)
        );
    }
}

/// A number without the noise of arithmetic.
fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Text that cannot be mistaken for markup.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::new("", 0.0, 1.0).ticks(5.0), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::new("", 41.3, 88.0).ticks(5.0), [50.0, 60.0, 70.0, 80.0]);
        assert_eq!(Axis::around("", []).ticks(2.0), [0.0, 0.5, 1.0]);
        assert_eq!([short(0.6000000000000001), short(-0.0), short(50.0)], ["0.6", "0", "50"]);
    }

    #[test]
    fn names_cannot_break_out_of_the_figure() {
        let mut plot = Plot::new(Axis::new("<x>", 0.0, 1.0), Axis::new("y", 0.0, 1.0));
        plot.legend("\"><script>", 0);
        plot.dot(0.5, 0.5, 9, "a & b");
        let svg = plot.finish("<title>");
        assert!(!svg.contains("<script>") && !svg.contains("<x>") && svg.contains("a &amp; b"));
    }
}
