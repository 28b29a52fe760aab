//! Parameters built and read in one order, and the dense layer.

use rand_chacha::ChaCha8Rng;

use crate::autograd::Var;
use crate::linalg::Mat;
use crate::linalg::random::{generator, glorot};
use crate::training::{Input, Parameters};

/// Builds fresh parameters, one after the other.
pub struct ParamBuilder {
    rng: ChaCha8Rng,
    parameters: Parameters,
}

impl ParamBuilder {
    /// Everything random comes from `seed`.
    pub fn new(seed: u64) -> Self {
        ParamBuilder { rng: generator(seed, 0), parameters: Parameters::default() }
    }

    /// A weight `[from, to]`, `NAME.weight`, and a bias `[1, to]`, `NAME.bias`: read by [`ParamReader::linear`].
    pub fn linear(&mut self, name: &str, from: usize, to: usize) {
        self.weight(&format!("{name}.weight"), from, to);
        self.free(&format!("{name}.bias"), Mat::zeros(1, to));
    }

    /// A weight `[from, to]`, which weight decay pulls on.
    pub fn weight(&mut self, name: &str, from: usize, to: usize) {
        self.parameters.weight(name, glorot(&mut self.rng, from, to));
    }

    /// The same for rows that are scaled to length 1 afterwards: the bias starts and shrinks as the weights do,
    /// since a zero row has no direction, and a bias that outlives the weights leaves no other.
    pub fn directed(&mut self, name: &str, from: usize, to: usize) {
        self.weight(&format!("{name}.weight"), from, to);
        let bias = glorot(&mut self.rng, from.max(1), to).select_rows(&[0]);
        self.parameters.weight(format!("{name}.bias"), bias);
    }

    /// Anything that weight decay leaves alone, such as a bias or a share.
    pub fn free(&mut self, name: &str, value: Mat) {
        self.parameters.bias(name, value);
    }

    /// All that was built.
    pub fn done(self) -> Parameters {
        self.parameters
    }
}

/// Reads parameters in the order in which they were built.
pub struct ParamReader<'a>(std::slice::Iter<'a, Var>);

impl<'a> ParamReader<'a> {
    /// Starts with the first.
    pub fn from(parameters: &'a [Var]) -> Self {
        ParamReader(parameters.iter())
    }

    /// The next parameter.
    ///
    /// # Panics
    /// If there is none: `scores` then reads other parameters than `parameters` built.
    pub fn one(&mut self) -> &'a Var {
        self.0.next().expect("as many parameters are read as were built")
    }

    /// `x W + b`: `[n, from] -> [n, to]`.
    pub fn linear(&mut self, x: &Var) -> Var {
        x.matmul(self.one()).add_row(self.one())
    }

    /// `x W + b` of the features.
    pub fn linear_of(&mut self, x: &Input) -> Var {
        x.matmul(self.one()).add_row(self.one())
    }
}

/// Matrices of the same rows side by side.
pub fn side_by_side(parts: &[Var]) -> Var {
    Var::concat_cols(&parts.iter().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_they_were_built() {
        let mut builder = ParamBuilder::new(1);
        builder.linear("a", 2, 3);
        builder.free("share", Mat::full(1, 1, 0.5));
        let parameters = builder.done().constants();
        let mut reader = ParamReader::from(&parameters);
        assert_eq!(reader.linear(&Var::constant(Mat::full(4, 2, 1.0))).shape(), (4, 3));
        assert_eq!(reader.one().scalar(), 0.5);
    }
}
